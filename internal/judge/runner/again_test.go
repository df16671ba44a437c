package runner

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func againOptions(t *testing.T, text string) Options {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Suite: s, Dir: t.TempDir(), Out: filepath.Join(t.TempDir(), "noise.json"), Again: true, Rounds: 8}
}

const twoImplementations = `version: 1
name: s
device: {kind: cpu}
harness: {command: ./h}
implementations: {other: {}}
benchmarks: {b: {matrix: {N: [1, 2]}}}
`

func TestAgainstItselfThereAreNoReferences(t *testing.T) {
	o := againOptions(t, twoImplementations)
	p, err := Forecast(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"candidate", "base"}; !cmp.Equal(p.Sides, want) {
		t.Errorf("sides %v, want %v", p.Sides, want)
	}
	if want := 8 * 2 * (guessStart + 2*(guessWarm+100*guessSample)); p.Most.Seconds != want {
		t.Errorf("%v s, want %v", p.Most.Seconds, want)
	}
	o.Again, o.Base = false, "main"
	repository(t, o.Dir)
	if p, err = Forecast(t.Context(), o); err != nil || !cmp.Equal(p.Sides, []string{"candidate", "base", "other"}) {
		t.Errorf("beside a base: %v, %v", p.Sides, err)
	}
}

// A run of noise knows from the last bench what a case takes, and how many the
// harness lists.
func TestForecastFromTheLastBench(t *testing.T) {
	o := againOptions(t, "version: 1\nname: s\ndevice: {kind: cpu}\nharness: {command: ./h}\n")
	run := &measure.Run{Header: measure.Header{
		ID: "x", Source: measure.Measured, Created: time.Unix(1, 0).UTC(), Suite: measure.SuiteRef{Name: "s"},
	}}
	for range 2 {
		run.Rounds = append(run.Rounds, measure.Round{Cases: []string{"a", "b", "c", "d"}, Sides: []measure.Side{{Seconds: guessStart + 8}}})
	}
	if err := measure.Save(filepath.Join(filepath.Dir(o.Out), "current.json"), run); err != nil {
		t.Fatal(err)
	}
	p, err := Forecast(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := 8 * 2 * (guessStart + 8); p.Most.Seconds != want {
		t.Errorf("%v s (%s), want %v", p.Most.Seconds, p.Basis, want)
	}
}

func TestPrevious(t *testing.T) {
	for out, want := range map[string]string{
		"results/current.json": "results/previous.json",
		"results/noise.json":   "results/previous-noise.json",
		"mine.json":            "previous-mine.json",
	} {
		if got := filepath.ToSlash(previous(filepath.FromSlash(out))); got != want {
			t.Errorf("previous(%s) = %s, want %s", out, got, want)
		}
	}
}
