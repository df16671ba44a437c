package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
)

func TestPicture(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var p picture
	show := func(after time.Duration, width int) string {
		return strings.Join(p.lines(start.Add(after), width, report.Style{}), "\n")
	}
	event := func(e bench.Event) { p.event(e, start) }

	event(bench.Building{Side: "base", Command: "make harness"})
	if got, want := show(0, 80), "building base: make harness ..."; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	event(bench.Ready{Sides: []string{"candidate", "base"}, Cases: 2, Rounds: []int{4}})
	event(bench.Measuring{Event: trial.RoundStarted{Round: 1, Of: 4, Order: []string{"base", "candidate"}, Cases: 2}})
	event(bench.Measuring{Event: trial.SideStarted{Side: "base", State: gpu.State{TemperatureC: 61, SMClockMHz: 1500}}})
	measured := func(name, side string, medians ...float64) {
		for _, m := range medians {
			event(bench.Measuring{Event: trial.CaseMeasured{Side: side, Result: measure.Result{
				Case:  measure.CaseKey{Benchmark: name, Implementation: side},
				Round: measure.CaseRound{Samples: measure.Samples{m}},
			}}})
		}
	}
	measured("sgemm", "base", 1e6, 1.02e6)
	measured("sgemm", "candidate", 1.05e6)
	want := strings.TrimSpace(`
round 2 of 4  ########............   44 %  12 s left  base  61 C, 1500 MHz
  sgemm  candidate 1.050 ms  base 1.010 ms +-1.0 %  5.0 % slower
`)
	if diff := cmp.Diff(want, show(9*time.Second, 100)); diff != "" {
		t.Error(diff)
	}
	for line := range strings.SplitSeq(show(9*time.Second, 30), "\n") {
		if len([]rune(line)) > 30 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	for i := range 30 {
		measured(fmt.Sprintf("case%02d", i), "base", 1e3)
	}
	if got := show(9*time.Second, 100); strings.Count(got, "\n") != mostRows+1 || !strings.Contains(got, "and 21 more") {
		t.Errorf("a picture of 31 cases:\n%s", got)
	}
}
