package tuning

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune"
)

// The machine has another speed for every point. In turns with the default that makes no difference.
func TestTune_ComparesRatiosWithTheDefault(t *testing.T) {
	t.Setenv(speeds, filepath.Join(t.TempDir(), "speed"))
	worst := func(yaml string) (far float64) {
		o, _ := workbench(t, yaml)
		found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Evaluations {
			if e.Status != tune.OK {
				continue
			}
			ratio := tunedTime(e.Point["BLOCK"].(float64), e.Point["UNROLL"].(float64)) / tunedTime(32, 1)
			far = max(far, math.Abs(e.Value/found.Default.Value/ratio-1))
		}
		return far
	}
	if far := worst(tunedYAML); far > 0.02 {
		t.Errorf("in turns a point is off by %.1f %%", 100*far)
	}
	if far := worst(strings.Replace(tunedYAML, "measure: {samples: 14}", "measure: {samples: 14, turns: never}", 1)); far < 0.15 {
		t.Errorf("without turns no point is off by more than %.1f %%: the test shows nothing", 100*far)
	}
}

// A search that goes on with a journal counts in the scale of its values.
func TestTune_ResumesWithTheScaleOfTheJournal(t *testing.T) {
	t.Setenv(speeds, filepath.Join(t.TempDir(), "speed"))
	o, _ := workbench(t, tunedYAML)
	what := Options{Case: "double/N256", Strategy: "exhaustive", Evals: 6, Jobs: 2}
	if _, err := Search(t.Context(), o, what); err != nil {
		t.Fatal(err)
	}
	what.Evals, what.Resume = 0, true
	found, err := Search(t.Context(), o, what)
	if err != nil || found.Resumed != 6 || len(found.Evaluations) != 20 {
		t.Fatalf("resumed %d, %d in all, %v", found.Resumed, len(found.Evaluations), err)
	}
	if b := found.Best.Point; b["BLOCK"] != 64.0 || b["UNROLL"] != 4.0 {
		t.Errorf("the best is %v", b)
	}
	if ratio := found.Best.Value / found.Default.Value * tunedTime(32, 1) / tunedTime(64, 4); math.Abs(ratio-1) > 0.02 {
		t.Errorf("the best is off by %.3f", ratio)
	}
}
