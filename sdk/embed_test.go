package sdk_test

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/sdk"
)

func TestNewer(t *testing.T) {
	for says, want := range map[string]string{
		"pawl.h 0.9.0":            "pawl sdk c",
		"pawl_harness.py 0.9.0":   "pawl sdk python",
		"pawl.h":                  "pawl sdk c",
		"pawl launcher 1.0.0 (x)": "",
		"my own 1.0.0":            "",
		"":                        "",
	} {
		now, command := sdk.Outdated(says)
		if command != want || (now == "") != (want == "") {
			t.Errorf("%q: %q by %q, want %q", says, now, command, want)
		}
		name, _, _ := strings.Cut(says, " ")
		if again, _ := sdk.Outdated(name + " " + now); now != "" && again != "" {
			t.Errorf("%s %s is not the newest: %s", name, now, again)
		}
	}
}
