package diagnose_test

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// events is a run of a kernel in two shapes, as OpenCL's events tell it. The program that
// started it has a function of the kernel's name.
func events(t *testing.T, large, small float64) diagnose.Subject {
	t.Helper()
	once := 1.0
	launch := func(id, groups int, ns float64) profile.Launch {
		return profile.Launch{ID: id, Kernel: "reduce", Grid: [3]int{groups, 1, 1}, Block: [3]int{128, 1, 1}, Metrics: []profile.Metric{
			{Name: "time_ns", Unit: "ns", Value: &ns}, {Name: "launches", Value: &once},
		}}
	}
	s, err := diagnose.NewSubject(&profile.Profile{
		Format: profile.Format, Tool: profile.Tool{Name: "opencl"},
		Code:     profile.Code{Functions: []profile.Function{{CodeDigest: measure.CodeDigest{Kernel: "reduce", Arch: "x86-64", Digest: "sha256:aa"}}}},
		Launches: []profile.Launch{launch(0, 64, large), launch(1, 1, small)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The driver compiles the kernel when the program runs. That the program is the same says
// nothing of the kernel, and its time is that of all its shapes.
func TestAKernelOfTheDriverIsNotIdentical(t *testing.T) {
	d := compare(t, events(t, 2.4e6, 0.1e6), events(t, 19.8e6, 0.2e6))
	if d.Identical || d.Before != 2.5e6 || d.After != 20e6 {
		t.Errorf("identical %v, %v, was %v", d.Identical, d.After, d.Before)
	}
	if want := "8.00x slower (20 ms, was 2.5 ms): the time is spent inside the kernels, where this tool cannot see"; !strings.HasPrefix(d.Sentence, want) {
		t.Errorf("have %q\nwant %q", d.Sentence, want)
	}
}
