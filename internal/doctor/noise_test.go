package doctor_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// sides makes a run of one case from the samples of each round and side.
func sides(base, candidate []measure.CaseRound) *measure.Run {
	run := &measure.Run{}
	for i := range max(len(base), len(candidate)) {
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
	}
	for name, rounds := range map[string][]measure.CaseRound{"base": base, "candidate": candidate} {
		for i := range rounds {
			rounds[i].Round = i
		}
		run.Cases = append(run.Cases, measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "b", Implementation: name}, Unit: "ns", Timer: measure.TimerWall, Rounds: rounds,
		})
	}
	return run
}

// medians are rounds of three samples around each value, 1 % apart.
func medians(values ...float64) []measure.CaseRound {
	var list []measure.CaseRound
	for _, v := range values {
		list = append(list, measure.CaseRound{Samples: measure.Samples{v, v * 0.99, v * 1.01}})
	}
	return list
}

func TestNoiseOfACase(t *testing.T) {
	// The base stands still; the candidate is 2 % above and below it in turn.
	up, down := 100*math.Exp(0.02), 100*math.Exp(-0.02)
	n := doctor.NewNoise(sides(medians(100, 100, 100, 100), medians(up, down, up, down)), 32)
	sd := 0.02 * math.Sqrt(4.0/3)
	want := doctor.Noise{Rounds: 4, Planned: 32, Cases: []doctor.CaseNoise{{
		Case: "b", Timer: measure.TimerWall, Rounds: 4,
		Within: 0.01, Between: sd / math.Sqrt2, Paired: sd,
		Least: []doctor.Detectable{
			{Rounds: 4, Slowdown: math.Expm1(stats.LeastDetectable(sd, 4, 0.001, 0.05))},
			{Rounds: 8, Slowdown: math.Expm1(stats.LeastDetectable(sd, 8, 0.001, 0.05))},
			{Rounds: 16, Slowdown: math.Expm1(stats.LeastDetectable(sd, 16, 0.001, 0.05))},
			{Rounds: 32, Slowdown: math.Expm1(stats.LeastDetectable(sd, 32, 0.001, 0.05))},
		},
	}}}
	if diff := cmp.Diff(want, n, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestNoiseRules(t *testing.T) {
	still := func() []measure.CaseRound { return medians(100, 100, 100, 100, 100, 100) }
	t.Run("the looks of the suite are told too", func(t *testing.T) {
		n := doctor.NewNoise(sides(still(), still()), 12)
		var got []int
		for _, d := range n.Cases[0].Least {
			got = append(got, d.Rounds)
		}
		if want := []int{4, 8, 12, 16, 32}; !cmp.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
	t.Run("no less than the timer's step", func(t *testing.T) {
		base, candidate := still(), still()
		for i := range base {
			base[i].Quantum, candidate[i].Quantum, candidate[i].Batch = 10, 10, 2
		}
		for _, d := range doctor.NewNoise(sides(base, candidate), 32).Cases[0].Least {
			if d.Slowdown != 0.1 { // a step of 10 in 100
				t.Errorf("with %d rounds %v", d.Rounds, d.Slowdown)
			}
		}
	})
	t.Run("more than chance", func(t *testing.T) {
		n := doctor.NewNoise(sides(still(), medians(103, 103.1, 102.9, 103, 103.1, 102.9)), 32)
		if c := n.Cases[0]; !c.Biased || math.Abs(c.Offset-0.03) > 0.001 {
			t.Errorf("biased %v, offset %v", c.Biased, c.Offset)
		}
		if n = doctor.NewNoise(sides(still(), medians(103, 97, 104, 99, 98, 100)), 32); n.Cases[0].Biased {
			t.Error("chance is called a bias")
		}
	})
	t.Run("wide rounds are pointed out", func(t *testing.T) {
		wide := still()
		for i := range wide {
			wide[i].Samples = measure.Samples{80, 100, 120}
		}
		if n := doctor.NewNoise(sides(wide, wide), 32); !n.Cases[0].Noisy {
			t.Errorf("within %v", n.Cases[0].Within)
		}
		if n := doctor.NewNoise(sides(still(), still()), 32); n.Cases[0].Noisy {
			t.Errorf("within %v", n.Cases[0].Within)
		}
	})
	t.Run("dropped rounds do not count", func(t *testing.T) {
		run := sides(medians(100, 100, 100), medians(100, 900, 100))
		run.Rounds[1].Dropped = "hot"
		if n := doctor.NewNoise(run, 32); n.Rounds != 2 || n.Cases[0].Rounds != 2 || n.Cases[0].Paired != 0 {
			t.Errorf("%+v", n)
		}
	})
	t.Run("one round says nothing", func(t *testing.T) {
		n := doctor.NewNoise(sides(medians(100), medians(101)), 1)
		if c := n.Cases[0]; c.Error == "" || c.Least != nil {
			t.Errorf("%+v", c)
		}
		if w := strings.Join(n.Words(), "\n"); !strings.HasPrefix(w, "nothing can be said") || n.Help(doctor.Report{}) != nil {
			t.Errorf("words %q, help %v", w, n.Help(doctor.Report{}))
		}
	})
	t.Run("a case that fails", func(t *testing.T) {
		failed := []measure.CaseRound{{Error: "no memory"}, {Error: "no memory"}}
		if c := doctor.NewNoise(sides(failed, failed), 32).Cases[0]; c.Error != "no memory" {
			t.Errorf("error %q", c.Error)
		}
	})
	t.Run("another clock beside", func(t *testing.T) {
		run := func(kind gpu.Kind, cpu float64) *measure.Run {
			base, candidate := still(), medians(120, 80, 130, 90, 110, 70)
			for i := range base {
				base[i].CPU, candidate[i].CPU = measure.Samples{cpu}, measure.Samples{cpu}
			}
			r := sides(base, candidate)
			r.Device.Kind = kind
			return r
		}
		for _, tt := range []struct {
			name string
			run  *measure.Run
			want *doctor.OtherClock
		}{
			{"on the host", run(gpu.CPU, 60), &doctor.OtherClock{Timer: measure.TimerCPU}},
			{"of a thread that waits", run(gpu.CPU, 10), nil},
			{"while a GPU works", run(gpu.NVIDIA, 60), nil},
			{"not read", run(gpu.CPU, 0), nil},
		} {
			if diff := cmp.Diff(tt.want, doctor.NewNoise(tt.run, 32).Cases[0].Other); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
	})
}

// What is promised holds: of slowdowns as small as the one that is told, 95 in 100
// are found, by the test that the promise is about.
func TestThePromise(t *testing.T) {
	const sd, rounds = 0.03, 8
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int, shift float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = 100 * math.Exp(shift+sd/math.Sqrt2*rng.NormFloat64())
		}
		return list
	}
	n := doctor.NewNoise(sides(medians(normal(2000, 0)...), medians(normal(2000, 0)...)), rounds)
	var least float64
	for _, d := range n.Cases[0].Least {
		if d.Rounds == rounds {
			least = d.Slowdown
		}
	}
	const tries = 2000
	found, alarms := 0, 0
	slower := func(shift float64) bool {
		base, candidate := normal(rounds, 0), normal(rounds, shift)
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = math.Log(candidate[i] / base[i])
		}
		return stats.Mean(ratios)/(stats.StdDev(ratios)/math.Sqrt(rounds)) > stats.TQuantile(1-0.001, rounds-1)
	}
	for range tries {
		if slower(math.Log1p(least)) {
			found++
		}
		if slower(0) {
			alarms++
		}
	}
	if share := float64(found) / tries; share < 0.93 || share > 0.97 {
		t.Errorf("a slowdown of %.1f %% is found in %.1f %% of runs", least*100, share*100)
	}
	if alarms > 10 { // two are to be expected
		t.Errorf("%d false alarms in %d runs", alarms, tries)
	}
}

// Whatever was measured, the answer can be written: JSON has no NaN.
func TestNoiseIsAlwaysJSON(t *testing.T) {
	round := rapid.Custom(func(t *rapid.T) measure.CaseRound {
		samples := rapid.SliceOfN(rapid.SampledFrom([]float64{1e-300, 1, 1, 100, 1e300}), 0, 4)
		return measure.CaseRound{
			Samples: samples.Draw(t, "samples"), CPU: samples.Draw(t, "cpu"), Quantum: rapid.SampledFrom([]float64{0, 1, 1e300}).Draw(t, "quantum"),
			Batch: rapid.IntRange(0, 3).Draw(t, "batch"), Error: rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "error"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		rounds := rapid.SliceOfN(round, 0, 5)
		run := sides(rounds.Draw(t, "base"), rounds.Draw(t, "candidate"))
		run.Device.Kind = gpu.CPU
		n := doctor.NewNoise(run, rapid.IntRange(0, 40).Draw(t, "planned"))
		if _, err := json.Marshal(n); err != nil {
			t.Fatal(err)
		}
		if len(n.Words()) == 0 {
			t.Fatal("nothing is said")
		}
		n.Help(doctor.Report{})
	})
}

func TestHelp(t *testing.T) {
	quiet := doctor.CaseNoise{Case: "q", Timer: measure.TimerWall, Rounds: 8, Least: []doctor.Detectable{{Rounds: 32, Slowdown: 0.01}}}
	loud := doctor.CaseNoise{Case: "l", Timer: measure.TimerWall, Rounds: 8, Paired: 0.2, Least: []doctor.Detectable{{Rounds: 32, Slowdown: 0.2}}}
	wide := quiet
	wide.Case, wide.Noisy = "w", true
	cpuBetter := loud
	cpuBetter.Other = &doctor.OtherClock{Timer: measure.TimerCPU, Paired: 0.01}
	cpuNoBetter := loud
	cpuNoBetter.Other = &doctor.OtherClock{Timer: measure.TimerCPU, Paired: 0.15}
	unsteady := loud
	unsteady.Unsteady = 3
	machine := doctor.Report{Findings: []doctor.Finding{
		{Group: doctor.Machine, Name: "governor", State: doctor.Warn, Fix: "G"},
		{Group: doctor.Machine, Name: "virtual", State: doctor.Warn, Fix: "V"},
		{Group: doctor.Machine, Name: "smt", State: doctor.Note, Fix: "S"},
		{Group: doctor.Device, Name: "clocks", State: doctor.Note, Fix: "C"},
		{Group: doctor.Device, Name: "company", State: doctor.OK},
		{Group: doctor.Toolchain, Name: "nvcc", State: doctor.Warn, Fix: "N"},
	}}
	tests := []struct {
		name  string
		cases []doctor.CaseNoise
		found doctor.Report
		want  []string // how each begins
	}{
		{"quiet", []doctor.CaseNoise{quiet}, machine, nil},
		{"loud", []doctor.CaseNoise{quiet, loud}, machine, []string{"governor: G", "virtual: V", "clocks: C"}},
		{"wide", []doctor.CaseNoise{wide}, machine, []string{"governor: G", "virtual: V", "clocks: C"}},
		{"CPU time is better", []doctor.CaseNoise{cpuBetter}, machine, []string{"go by cpu time (measure: {timer: cpu}): for the same runs of l it spreads 1.0 %, not 20.0 %", "governor: G", "clocks: C"}},
		{"CPU time is no better", []doctor.CaseNoise{cpuNoBetter}, doctor.Report{}, []string{"nothing of what pawl looks at"}},
		{"cold", []doctor.CaseNoise{unsteady}, doctor.Report{}, []string{"warm up longer (measure: {warmup: N}): l was still changing when its samples began, 3 times of 16"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := doctor.Noise{Planned: 32, Cases: tt.cases}.Help(tt.found)
			if len(got) != len(tt.want) {
				t.Fatalf("%q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("%q, want %q...", got[i], tt.want[i])
				}
			}
		})
	}
}
