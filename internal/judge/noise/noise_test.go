package noise

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// sameCodeRun is a run of the same code against itself in which a round resembles the one before.
func sameCodeRun(seed uint64, rounds int, resemblance float64) *measure.Run {
	rng := rand.New(rand.NewPCG(seed, 1))
	run := &measure.Run{Header: measure.Header{ID: "run", Testbed: measure.Testbed{Kind: gpu.CPU, Device: "test"}}}
	for _, name := range []string{"a", "b", "c", "d"} {
		base := measure.Case{CaseKey: measure.CaseKey{Benchmark: name, Implementation: measure.Base}}
		again := measure.Case{CaseKey: measure.CaseKey{Benchmark: name, Implementation: measure.Candidate}}
		z := 0.0
		for i := range rounds {
			z = resemblance*z + math.Sqrt(1-resemblance*resemblance)*rng.NormFloat64()
			base.Rounds = append(base.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{100}})
			again.Rounds = append(again.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{100 * math.Exp(0.02*z)}})
		}
		run.Cases = append(run.Cases, base, again)
	}
	return run
}

func TestNoiseIsKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("PAWL_CACHE", cache)
	known := func(run *measure.Run) int {
		t.Helper()
		kept, err := Keep(run)
		if err != nil {
			t.Fatal(err)
		}
		return len(Dependence(kept))
	}
	if n := known(sameCodeRun(1, 32, 0.8)); n != 0 {
		t.Errorf("128 rounds are enough to know %d ratios", n)
	}
	files, err := filepath.Glob(filepath.Join(cache, "noise", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: want a file of the testbed", files, err)
	}
	file, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("{\"run\":\"cut sho\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		known(sameCodeRun(seed+2, 32, 0.8))
	}
	if n := known(sameCodeRun(9, 32, 0.8)); n < 4 {
		t.Errorf("of 768 rounds that resemble their neighbors, %d ratios are known", n)
	}
	other := sameCodeRun(1, 200, 0)
	other.Testbed.Device = "another"
	if n := known(other); n != 1 {
		t.Errorf("another testbed, with independent rounds: %d ratios, want 1", n)
	}
	if d := Known(measure.Testbed{Device: "a third"}); d != nil {
		t.Errorf("a testbed without runs: %v", d)
	}
	for seed := range uint64(2 * maxKeptRuns) {
		known(sameCodeRun(seed, 2, 0))
	}
	if runs := read(files[0]); len(runs) != maxKeptRuns {
		t.Errorf("%d runs are kept, want the latest %d", len(runs), maxKeptRuns)
	}
}
