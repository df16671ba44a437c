package runner

import (
	"errors"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
)

// What keeps both sides from a profile is said once, and each side by its own name: the
// base is built as a candidate was.
func TestWhyTwoSidesHaveNoProfile(t *testing.T) {
	missing := &tool.Error{Tool: "callgrind", What: "profiling matmul (candidate)", Why: "there is no valgrind here", Fix: "install it"}
	crashed := &tool.Error{Tool: "callgrind", What: "profiling matmul (candidate)", Why: "it crashed"}
	for name, tt := range map[string]struct {
		base, candidate error
		want            string
	}{
		"the same":    {missing, missing, "profiling both sides of matmul/N64 with callgrind: there is no valgrind here: install it"},
		"one of them": {nil, missing, "profiling candidate of matmul/N64 with callgrind: there is no valgrind here: install it"},
		"two reasons": {
			crashed, missing,
			"profiling base of matmul/N64 with callgrind: it crashed\nprofiling candidate of matmul/N64 with callgrind: there is no valgrind here: install it",
		},
		"no tool's": {errors.New("no such case"), nil, "cannot profile base of matmul/N64: no such case"},
	} {
		var err error
		if tt.base != nil {
			err = joinSideErrors(err, "base", "matmul/N64", tt.base)
		}
		if tt.candidate != nil {
			err = joinSideErrors(err, "candidate", "matmul/N64", tt.candidate)
		}
		if err.Error() != tt.want {
			t.Errorf("%s: have %q\nwant %q", name, err, tt.want)
		}
	}
}
