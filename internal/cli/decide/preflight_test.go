package decide

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/report"
)

// What a person reads: a line where all is well, everything where it is not.
func TestPreflightPage(t *testing.T) {
	l4, err := preflight.TargetCard("L4")
	if err != nil {
		t.Fatal(err)
	}
	about := func(name preflight.Name, state preflight.State, subject string, number, limit float64, text, fix string) preflight.Gate {
		return preflight.Gate{Name: name, State: state, Kernel: subject, Arch: "sm_89", Number: number, Limit: limit, Text: text, Fix: fix}
	}
	green := []preflight.Gate{
		about(preflight.SharedMemory, preflight.Pass, "naive", 1024, 49152, "1 KB in a block of 48 KB at most, as compiled", ""),
		about(preflight.SharedMemory, preflight.Pass, "attention<64>", 41472, 49152, "40.5 KB in a block of 48 KB at most, as compiled", ""),
		about(preflight.Occupancy, preflight.Pass, "attention<64>", 0.17, 0, "17 %: 8 of 48 warps, limited by registers", ""),
		about(preflight.Occupancy, preflight.Pass, "naive", 1, 0, "100 %: 48 of 48 warps, limited by warps", ""),
		{Name: preflight.Sanitizer, State: preflight.Unknown, Text: "not run: this machine has no GPU"},
	}
	mixed := []preflight.Gate{
		green[0],
		about(preflight.Spills, preflight.Warn, "naive", 8, 64, "255 registers, spilled per thread: stores 8 bytes, loads 8 bytes", "keep fewer values alive"),
		about(preflight.Spills, preflight.Stop, "attention<64>", 532, 64, "32 registers, spilled per thread: stores 532 bytes, loads 556 bytes", "allow more registers"),
		about(preflight.Spills, preflight.Pass, "copy", 0, 64, "12 registers, nothing spilled", ""),
		{Name: preflight.BuildGate, State: preflight.Stop, Text: "build \"make\" failed in /x: exit status 2\n    k.cu(3): error: expected a \";\"", Fix: "repair the build"},
	}
	for range 10 {
		mixed = append(mixed, preflight.Gate{Name: preflight.Symbols, State: preflight.Stop, Kernel: "f", Text: "the link fails: nothing defines f()", Fix: "link it"})
	}
	var b strings.Builder
	for _, r := range []preflight.Report{{Target: l4, Built: true, Gates: green}, {Built: true, Gates: mixed}, {Gates: mixed[:3]}, {}} {
		if err := writePreflight(&b, report.Style{}, r); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n-----\n")
	}
	golden.Check(t, "preflight.txt", b.String())
}
