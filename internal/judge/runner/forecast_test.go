package runner

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// repository makes a folder a git repository with one commit on main.
func repository(t *testing.T, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
}

var gitIn = testrun.Git

// A dry run finds the mistakes that the run would find.
func TestForecastOfWhatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"a glob that matches nothing": {func(o *Options) { o.Case = "c/*" }, `no case matches "c/*"; the suite has b/N1, b/N2`},
		"a base outside a repository": {func(o *Options) { o.Base = "main" }, "--base requires a git repository"},
		"a base that is no commit": {func(o *Options) {
			o.Base = "nowhere"
			repository(t, o.Dir)
		}, `no commit "nowhere"`},
	} {
		o := againOptions(t, twoImplementations)
		o.Again = false
		tt.change(&o)
		_, err := Forecast(t.Context(), o)
		if _, usage := errors.AsType[*UsageError](err); !usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// Twice the samples take twice as long to take; warming up takes as long as ever.
func TestForecastScalesWithSamples(t *testing.T) {
	o := againOptions(t, twoImplementations)
	run := &measure.Run{Header: measure.Header{
		ID: "x", Source: measure.Measured, Created: time.Unix(1, 0).UTC(), Suite: measure.SuiteRef{Name: "s"},
	}}
	run.Rounds = []measure.Round{{Cases: []string{"b/N1", "b/N2"}, Sides: []measure.Side{{Implementation: "candidate", Seconds: guessStart + 2*(0.4+10*0.1)}}}}
	for _, config := range []string{"N1", "N2"} {
		samples := make(measure.Samples, 10)
		for i := range samples {
			samples[i] = 0.05e9
		}
		key := measure.CaseKey{Benchmark: "b", Config: config, Implementation: "candidate"}
		run.Cases = append(run.Cases, measure.Case{CaseKey: key, Unit: "ns", Rounds: []measure.CaseRound{{Batch: 2, Samples: samples}}})
		key.Metric = "speed" // counted once, as a time
		run.Cases = append(run.Cases, measure.Case{CaseKey: key, Unit: "1/s", Rounds: []measure.CaseRound{{Batch: 2, Samples: samples}}})
	}
	if err := measure.Save(o.Out, run); err != nil {
		t.Fatal(err)
	}
	for _, samples := range []int{10, 20, 100} {
		o.Samples = samples
		p, err := Forecast(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := 8 * 2 * (guessStart + 2*(0.4+float64(samples)*0.1)); math.Abs(p.Most.Seconds-want) > 1e-6 {
			t.Errorf("%d samples: %v s (%s), want %v", samples, p.Most.Seconds, filepath.Base(p.Basis), want)
		}
	}
}
