package affected_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/measure"
)

// A case is left out only if everything is known and equal: every single difference, and every gap, has it measured.
func TestReason(t *testing.T) {
	type known struct {
		builds          affected.Builds
		base, candidate affected.Kernel
	}
	for name, tt := range map[string]struct {
		change func(*known)
		want   string
	}{
		"everything is known and equal": {func(*known) {}, ""},
		"the harness is trusted":        {func(k *known) { k.builds.Checked = false }, "host code of the change runs"},
		"another definition":            {func(k *known) { k.builds.Redefined = true }, "the definition of the measurement differs"},
		"another recipe":                {func(k *known) { k.builds.Rebuilt = true }, "the builds have different recipes"},
		"another compiler":              {func(k *known) { k.builds.Candidate = []measure.Tool{{Name: "gcc", Version: "13"}} }, "the builds have different tools"},
		"a compiler that is not known":  {func(k *known) { k.builds.Candidate = nil }, "the builds have different tools"},
		"a base that is not known":      {func(k *known) { k.base = affected.Kernel{Launch: "l", Unknown: "why"} }, "why"},
		"a change that is not known":    {func(k *known) { k.candidate = affected.Kernel{Launch: "l", Unknown: "why"} }, "why"},
		"both are not known alike":      {func(k *known) { k.base.Code, k.candidate.Code = "", "" }, "it is not known what the kernel executes and reads"},
		"one is not known":              {func(k *known) { k.base.Code = "" }, "it is not known what the kernel executes and reads"},
		"another launch":                {func(k *known) { k.candidate.Launch = "m" }, "the kernel is launched differently"},
		"launches that are not known":   {func(k *known) { k.base.Launch, k.candidate.Launch = "", "" }, "the kernel is launched differently"},
		"other code":                    {func(k *known) { k.candidate.Code = "d" }, "something that the kernel executes or reads differs"},
	} {
		t.Run(name, func(t *testing.T) {
			gcc := []measure.Tool{{Name: "gcc", Version: "12"}}
			k := known{affected.Builds{Checked: true, Base: gcc, Candidate: gcc}, affected.Kernel{Launch: "l", Code: "c"}, affected.Kernel{Launch: "l", Code: "c"}}
			tt.change(&k)
			if got := k.builds.Reason(k.base, k.candidate); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
