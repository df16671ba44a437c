package tuning

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// A budget of 20 minutes is used up to the time of one evaluation, and what is begun is
// rarely given up: by a clock that only evaluations move.
func TestTuneBudgetIsUsed(t *testing.T) {
	const budget = 20 * time.Minute
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	for name, c := range map[string]struct {
		build, measure float64 // seconds, usually
		jobs           int
	}{
		"compiling takes most": {12, 0.5, 2}, "measuring takes most": {0.5, 6, 2}, "both are quick": {0.3, 0.2, 4}, "one at a time": {5, 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			began := time.Unix(0, 0)
			now := began
			s := &tuner{Setup: runner.NewSetup(runner.Options{Now: func() time.Time { return now }}), Options: Options{Budget: budget}, startedAt: began}
			draw := func(usual float64) float64 { return usual * (0.5 + rng.ExpFloat64()) }
			slots := make([]time.Time, c.jobs) // when a compiler is free again
			type build struct {
				ready time.Time
				took  float64
			}
			var out []build
			lost := 0
			for {
				for len(out) < c.jobs+1 && s.mayStart(len(out)) {
					slices.SortFunc(slots, time.Time.Compare)
					begins := slots[0]
					if begins.Before(now) {
						begins = now
					}
					took := draw(c.build)
					slots[0] = begins.Add(seconds(took))
					out = append(out, build{slots[0], took})
				}
				if len(out) == 0 {
					break
				}
				slices.SortFunc(out, func(a, b build) int { return a.ready.Compare(b.ready) })
				b := out[0]
				out = out[1:]
				if b.ready.After(now) {
					now = b.ready
				}
				e := tune.Evaluation{Status: tune.OK, Build: b.took, Measure: draw(c.measure)}
				if now = now.Add(seconds(e.Measure)); now.After(began.Add(budget)) { // the deadline of the context
					now = began.Add(budget)
					lost++
					continue
				}
				s.list = append(s.list, e)
			}
			used := now.Sub(began)
			t.Logf("%v used, %d evaluations, %d given up", used.Round(time.Second), len(s.list), lost)
			if left := budget - used; left < 0 || left > budget/50+seconds(c.build+c.measure) {
				t.Errorf("%v of %v used", used, budget)
			}
			if lost > c.jobs+1 || s.end != EndBudget {
				t.Errorf("%d given up, ended by %q", lost, s.end)
			}
		})
	}
}

// The first build fills caches: that it took long is no reason to stop.
func TestFirstBuildsForetellNothing(t *testing.T) {
	now := time.Unix(20, 0)
	s := &tuner{Setup: runner.NewSetup(runner.Options{Now: func() time.Time { return now }}), Options: Options{Budget: 30 * time.Second}, startedAt: time.Unix(0, 0)}
	slow := tune.Evaluation{Status: tune.OK, Build: 15, Measure: 1}
	s.list = []tune.Evaluation{slow}
	if !s.mayStart(0) {
		t.Error("after one slow build nothing is begun")
	}
	for len(s.list) < minToForecast {
		s.list = append(s.list, slow)
	}
	if s.mayStart(0) || s.end != EndBudget {
		t.Error("after as many slow builds as tell, one more is begun that cannot fit")
	}
}

// A point that no device of the kind can run is known before it is built: by its threads, its
// shared memory or its registers.
func TestTunePrunesByOccupancy(t *testing.T) {
	const yaml = `version: 1
harness: {command: ./h}
benchmarks:
  k:
    matrix: {N: [64]}
    tune:
      parameters: {BLOCK: [32, 64, 128], STAGES: [1, 2, 4], REGS: [0, 128, 255]}
      occupancy: {threads: BLOCK * 16, shared: BLOCK * STAGES * 512, registers: REGS}
`
	s, err := suite.Parse("pawl.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	ada, hopper := gpu.Identity{Kind: gpu.NVIDIA, ComputeCapability: "8.9"}, gpu.Identity{Kind: gpu.NVIDIA, ComputeCapability: "9.0"}
	for _, tt := range []struct {
		device              gpu.Identity
		block, stages, regs float64
		pruned              bool
	}{
		{ada, 32, 1, 0, false},
		{ada, 128, 1, 0, true},                            // 2048 threads
		{ada, 64, 4, 0, true},                             // 128 KiB
		{ada, 64, 2, 0, false},                            // 64 KiB
		{ada, 64, 1, 128, true},                           // 1024 threads of 128 registers
		{ada, 32, 1, 128, false},                          // 512
		{ada, 32, 1, 255, true},                           // 512 threads of 255, which are rounded to 256: too many
		{hopper, 64, 4, 0, false},                         // has the room
		{gpu.Identity{Kind: gpu.CPU}, 128, 4, 255, false}, // knows no such limits
		{gpu.Identity{Kind: gpu.NVIDIA, ComputeCapability: "99.9"}, 128, 4, 255, false}, // nor does a table that is too old
	} {
		tuned, err := s.Tuned("k", map[string]any{"BLOCK": tt.block, "STAGES": tt.stages, "REGS": tt.regs})
		if err != nil {
			t.Fatal(err)
		}
		if why := pruned(tt.device, tuned.Benchmarks[0], tuned.Benchmarks[0].Configs[0].Params); (why != "") != tt.pruned {
			t.Errorf("%s, BLOCK %g STAGES %g REGS %g: pruned %q, want %v", tt.device.ComputeCapability, tt.block, tt.stages, tt.regs, why, tt.pruned)
		}
	}
}
