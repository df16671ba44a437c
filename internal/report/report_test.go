package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
)

// twoSides is a run in which the candidate takes 6 % longer than the base in
// every round, in one case; the other case failed.
func twoSides() *measure.Run {
	run := &measure.Run{}
	run.Suite.Name = "matmul"
	run.Device = gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}
	run.Testbed.Clocks = gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500}
	run.Implementations = []measure.Implementation{{Name: "candidate"}, {Name: "base"}}
	after := &gpu.State{TemperatureC: 61, SMClockMHz: 1500, PowerW: 64.6}
	side := func(name string, factor float64) measure.Case {
		c := measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "matmul", Config: "N512", Implementation: name},
			Unit:    "ns", Timer: measure.TimerDevice, Flops: 2 * 512 * 512 * 512, Bytes: 3 * 4 * 512 * 512,
		}
		for r := range 5 {
			s := measure.Samples{}
			for i := range 100 {
				s = append(s, factor*(1e5+float64(100*r)+float64(i)))
			}
			if r == 4 { // dropped: must not count
				s = measure.Samples{1, 1, 1}
			}
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: r, Samples: s})
		}
		return c
	}
	for r := range 5 {
		run.Rounds = append(run.Rounds, measure.Round{Index: r, Sides: []measure.Side{{Implementation: "base", After: after}}})
	}
	run.Rounds[4].Dropped = "hw_thermal"
	run.Cases = []measure.Case{side("candidate", 1.06), side("base", 1), {
		CaseKey: measure.CaseKey{Benchmark: "matmul", Config: "N1024", Implementation: "candidate"}, Unit: "ns",
		Rounds: []measure.CaseRound{{Round: 0, Error: "no memory: 4 GiB"}},
	}}
	run.End = measure.End{State: measure.OverBudget, Reason: "another round would exceed the time budget", Seconds: 130, Dollars: 0.0289}
	run.Warnings = []measure.Warning{
		{Code: "throttled", Message: "round 4 dropped"},
		{Code: "throttled", Message: "round 5 dropped"},
		{Code: "temperature", Message: "the device reached 81 degrees C"},
	}
	return run
}

func imported() *measure.Run {
	run := &measure.Run{}
	run.Source, run.Format = measure.Imported, "google-benchmark"
	run.Device.Name = "Intel Xeon"
	run.Rounds = []measure.Round{{Index: 0}}
	noisy := measure.Samples{}
	for i := range 50 {
		noisy = append(noisy, 1000+float64(i%7)*200)
	}
	run.Cases = []measure.Case{
		{CaseKey: measure.CaseKey{Benchmark: "BM_copy/1024", Implementation: "candidate"}, Unit: "ns", Timer: measure.TimerWall, Rounds: []measure.CaseRound{{Samples: noisy}}},
		{CaseKey: measure.CaseKey{Benchmark: "BM_copy/1024", Metric: "allocs", Implementation: "candidate"}, Unit: "allocs", NoSamples: true, Summary: &measure.Summary{Median: 3}},
	}
	run.End.State = measure.Complete
	return run
}

func TestGolden(t *testing.T) {
	hostile := twoSides()
	hostile.Cases[0].Benchmark = "<img src=x>@root|[a](http://x)\n# owned"
	hostile.Cases = hostile.Cases[:1]
	tests := []struct {
		name  string
		run   *measure.Run
		write func(*bytes.Buffer, *measure.Run) error
	}{
		{"two-sides.txt", twoSides(), func(b *bytes.Buffer, r *measure.Run) error { return report.Terminal(b, r, report.Style{}) }},
		{"two-sides-color.txt", twoSides(), func(b *bytes.Buffer, r *measure.Run) error { return report.Terminal(b, r, report.Style{Color: true}) }},
		{"two-sides.md", twoSides(), func(b *bytes.Buffer, r *measure.Run) error {
			return report.Markdown(b, report.NewDocument(report.Input{Run: r}))
		}},
		{"two-sides.json", twoSides(), func(b *bytes.Buffer, r *measure.Run) error { return report.JSON(b, r, "results/current.json") }},
		{"imported.txt", imported(), func(b *bytes.Buffer, r *measure.Run) error { return report.Terminal(b, r, report.Style{}) }},
		{"hostile.md", hostile, func(b *bytes.Buffer, r *measure.Run) error {
			return report.Markdown(b, report.NewDocument(report.Input{Run: r}))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.write(&b, tt.run); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, tt.name, b.String())
		})
	}
}

func TestRatioIsPairedByRound(t *testing.T) {
	run := twoSides()
	// Both sides drift by half during the run; the ratio inside a round does not.
	for c := range 2 {
		for r := range run.Cases[c].Rounds {
			for i := range run.Cases[c].Rounds[r].Samples {
				run.Cases[c].Rounds[r].Samples[i] *= 1 + 0.5*float64(r)
			}
		}
	}
	s := summary.Of(run)[0].Sides[0]
	if math.Abs(s.Ratio-1.06) > 1e-12 || math.Abs(s.RatioLow-1.06) > 1e-12 || math.Abs(s.RatioHigh-1.06) > 1e-12 {
		t.Errorf("ratio %v (%v to %v), want 1.06 in every round", s.Ratio, s.RatioLow, s.RatioHigh)
	}
	if s.Rounds != 4 || s.Samples != 400 {
		t.Errorf("%d rounds, %d samples; the dropped round counts", s.Rounds, s.Samples)
	}
}

// Whatever a case is called, it stays one cell of one row.
func TestHostileNamesStayInTheirCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := imported()
		run.Cases = run.Cases[:1]
		run.Cases[0].Benchmark = rapid.String().Draw(t, "name")
		var b bytes.Buffer
		if err := report.Markdown(&b, report.NewDocument(report.Input{Run: run})); err != nil {
			t.Fatal(err)
		}
		var row string
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "candidate |") {
				row = line
			}
		}
		cells := strings.Count(strings.ReplaceAll(row, `\\`, ""), "|") - strings.Count(strings.ReplaceAll(row, `\\`, ""), `\|`)
		if cells != 7 {
			t.Fatalf("%d separators in %q", cells, row)
		}
		row = strings.ReplaceAll(strings.ReplaceAll(row, "<code>", ""), "</code>", "")
		if strings.ContainsAny(row, "<>") {
			t.Fatalf("markup in %q", row)
		}
	})
}

// A count may be zero, and more of something may be good: no NaN, no "slower".
func TestMetricsThatAreNoTimes(t *testing.T) {
	run := twoSides()
	for i := range run.Cases[:2] {
		run.Cases[i].Metric, run.Cases[i].Unit, run.Cases[i].Better = "bandwidth", "MB/s", measure.Higher
	}
	if s := summary.Of(run)[0]; s.Better != measure.Higher {
		t.Errorf("summary %+v", s)
	}
	var text, doc bytes.Buffer
	if err := report.Terminal(&text, run, report.Style{}); err != nil || !strings.Contains(text.String(), "6.0 % more") {
		t.Errorf("%v\n%s", err, text.String())
	}
	for i := range run.Cases {
		for r := range run.Cases[i].Rounds {
			clear(run.Cases[i].Rounds[r].Samples)
		}
	}
	if err := report.JSON(&doc, run, ""); err != nil || strings.Contains(doc.String(), "NaN") {
		t.Errorf("%v\n%s", err, doc.String())
	}
	text.Reset()
	if err := report.Terminal(&text, run, report.Style{}); err != nil || strings.Contains(text.String(), "NaN") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		var b bytes.Buffer
		if err := report.Terminal(&b, twoSides(), report.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if i >= 1 && i <= 3 && len(line) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}
