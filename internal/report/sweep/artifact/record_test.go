package artifact_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/report/sweep/artifact"
	"github.com/goatnote-inc/pawl/measure"
)

// attention is a run of three implementations on five configs: one is faster on some
// and slower on others, two are tied somewhere, and one cannot do the largest.
func attention() *measure.Run {
	run := &measure.Run{}
	run.ID, run.Created, run.Pawl = "01JNGBMS0000000000000000AB", time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), "0.1.0"
	run.Source = measure.Measured
	run.Suite = measure.SuiteRef{Name: "attention", Path: "pawl.yaml"}
	run.Device = gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}
	run.Testbed = measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500}}
	run.Plan = measure.Plan{Seed: 42, Growth: []int{12}, Samples: 100, Case: "attention/*", Override: 50}
	run.End.State = measure.Complete
	run.Implementations = []measure.Implementation{
		{Name: "candidate", Commit: "c0ffee", Dirty: true, Build: measure.BuildFacts{Command: "make harness"}, Harness: measure.Harness{Command: "./harness", Runtime: "CUDA 12.4"}, Toolchain: []measure.Tool{{Name: "nvcc", Version: "12.4"}}},
		{Name: "sdpa", Harness: measure.Harness{Command: "python3 sdpa.py"}},
		{Name: "flash", Harness: measure.Harness{Command: "python3 flash.py"}},
	}
	speed := map[string][]float64{ // times as fast as the candidate, by config
		"sdpa": {0.80, 0.85, 1.0, 1.1, 1.3}, "flash": {0.70, 0.95, 1.2, 1.6, 0},
	}
	const rounds = 12
	for r := range rounds {
		run.Rounds = append(run.Rounds, measure.Round{Index: r})
	}
	for c, length := range []float64{128, 256, 512, 1024, 2048} {
		for i, impl := range run.Implementations {
			flops := 4 * 16 * 8 * length * length * 64
			one := measure.Case{
				CaseKey: measure.CaseKey{Benchmark: "attention", Config: fmt.Sprintf("B16_H8_S%g_D64", length), Implementation: impl.Name},
				Unit:    "ns", Timer: measure.TimerDevice, Flops: flops, Bytes: 4 * 16 * 8 * length * 64 * 2,
			}
			factor := 1.0
			if impl.Name != "candidate" {
				factor = speed[impl.Name][c]
			}
			for r := range rounds {
				round := measure.CaseRound{Round: r, Error: "out of memory"}
				if factor > 0 {
					level := (flops/4e4 + 2000) / factor * (1 + 0.01*math.Sin(float64(r))) // the machine, the same for all
					level *= 1 + 0.012*math.Sin(float64(7*r+5*i+11*c))
					round.Error, round.Samples = "", measure.Samples{level * 0.99, level, level * 1.02}
				}
				one.Rounds = append(one.Rounds, round)
			}
			run.Cases = append(run.Cases, one)
		}
	}
	return run
}

func files(t *testing.T, run *measure.Run) map[string]string {
	t.Helper()
	r, err := sweep.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	list, err := artifact.Files(run, r, "current.json", "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range list {
		all[f.Path] = string(f.Body)
	}
	return all
}
