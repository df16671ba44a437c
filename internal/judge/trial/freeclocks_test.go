//go:build linux && (amd64 || arm64)

package trial_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// plan compares a kernel with one of 5 % more cycles, on tensors of so many floats.
func (m metered) plan(turns bool, rounds, floats int) trial.Plan {
	m.sessions.Meter, m.sessions.Metrics = nil, nil
	p := trial.Plan{Seed: 1, Turns: turns, Growth: []int{rounds}, Now: time.Now, Emit: func(trial.Event) {}}
	for i, side := range []string{measure.Base, measure.Candidate} {
		thousands := 1000 + 50*float64(i)
		p.Sides = append(p.Sides, trial.Side{Name: side, Runner: m.sessions, Cases: []trial.Case{{
			Key:   measure.CaseKey{Benchmark: "works", Implementation: side, Cache: measure.Hot},
			Timer: measure.TimerDevice, Samples: 60, Warmup: 10,
			Arguments: []tensor.Argument{
				{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{floats}},
				{Name: "out", Role: tensor.Out, DType: tensor.F32, Shape: []int{floats}},
				{Name: "n", Role: tensor.Value, DType: tensor.I32, Value: thousands},
			},
			Launch: &harness.Launch{Kind: launch.CUDA, File: m.image, Kernel: "works", Grid: [3]int{floats / 128, 1, 1}, Block: [3]int{128, 1, 1}},
		}}})
	}
	return p
}

// ratios runs a trial of both kernels, and returns the log-ratios of its rounds.
func (m metered) ratios(t *testing.T, turns bool, rounds int) []float64 {
	t.Helper()
	e := ratchet.Evidence{Case: measure.CaseKey{Benchmark: "works"}, Unit: "ns", Paired: true, HasBase: true, HasCandidate: true}
	p := m.plan(turns, rounds, 128)
	p.Record = func(_ measure.Round, results []measure.Result) error {
		for _, r := range results {
			if r.Round.Error != "" {
				t.Errorf("%s: %s", r.Case.Implementation, r.Round.Error)
			}
			if round := ratchet.NewRound(r.Round, "now"); r.Case.Implementation == measure.Base {
				e.Base = append(e.Base, round)
			} else {
				e.Candidate = append(e.Candidate, round)
			}
		}
		return nil
	}
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return e.LogRatios()
}

// With free clocks, sides in turns of milliseconds see the same clock, whatever the power cap does meanwhile. Sides that run
// one after the other do not. Both are measured by the same loop, on one card that all processes share.
func TestTurns_SeeOneClockUnderAPowerCap(t *testing.T) {
	spread := map[bool]float64{}
	for _, turns := range []bool{false, true} {
		list := newMetered(t, "VGPU_CARD=L4", "VGPU_MHZ=0").ratios(t, turns, 4)
		if len(list) != 4 {
			t.Fatalf("turns %v: %d rounds", turns, len(list))
		}
		for _, ratio := range list {
			if turns && math.Abs(ratio-math.Log(1.05)) > 0.005 {
				t.Errorf("in turns a round finds %.2f %%, want 5 %%", 100*math.Expm1(ratio))
			}
		}
		spread[turns] = stats.StdDev(list)
		t.Logf("turns %v: log-ratios %.4f", turns, list)
	}
	if spread[true] > spread[false]/2 {
		t.Errorf("rounds in turns spread by %.4f, apart by %.4f", spread[true], spread[false])
	}
}

// The free memory that NVML reports decides whether both sides fit.
func TestTurns_NeedMemoryForBothSides(t *testing.T) {
	for _, test := range []struct {
		floats int
		turns  bool
	}{{128, true}, {1 << 15, false}} {
		m := newMetered(t, "VGPU_CARD=L4", "VGPU_MHZ=0", "VGPU_SCALE=16384") // 1.5 MB
		p := m.plan(true, 1, test.floats)
		p.FreeMemory = func(ctx context.Context) (int64, error) {
			s, err := m.dev.State(ctx)
			return s.FreeBytes, err
		}
		b := &bench{}
		p.Record = func(r measure.Round, results []measure.Result) error {
			b.rounds, b.results = append(b.rounds, r), append(b.results, results...)
			return nil
		}
		out, err := trial.Run(t.Context(), p)
		if err != nil || out.Rounds != 1 {
			t.Fatalf("outcome %+v, %v", out, err)
		}
		for _, r := range b.results {
			if r.Round.Error != "" {
				t.Errorf("%d floats: %s", test.floats, r.Round.Error)
			}
		}
		dropped, inTurns, alone := apart(out, b)
		t.Logf("%d floats: %q, %d in turns, %d alone", test.floats, dropped, inTurns, alone)
		if (inTurns == 2) != test.turns || (alone == 2) == test.turns || strings.Contains(dropped, "GB are free") == test.turns {
			t.Errorf("%d floats: %q, %d in turns, %d alone", test.floats, dropped, inTurns, alone)
		}
	}
}
