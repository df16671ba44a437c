package doctor_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
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

// noiseOf reads a run of which nothing else is known.
func noiseOf(run *measure.Run) doctor.Noise { return doctor.NewNoise(run, ratchet.Default(), nil) }

func TestNoiseOfACase(t *testing.T) {
	// The base stands still; the candidate is 2 % above and below it in turn.
	up, down := 100*math.Exp(0.02), 100*math.Exp(-0.02)
	n := noiseOf(sides(medians(100, 100, 100, 100), medians(up, down, up, down)))
	sd := 0.02 * math.Sqrt(4.0/3)
	want := doctor.Noise{Rounds: 4, Kept: 4, Cases: []doctor.CaseNoise{{
		Case: "b", Timer: measure.TimerWall, Rounds: 4,
		Within: 0.01, Between: sd / math.Sqrt2, Paired: sd, Lag: -0.75,
	}}}
	if diff := cmp.Diff(want, n, cmpopts.EquateApprox(1e-9, 1e-12), cmpopts.IgnoreUnexported(doctor.CaseNoise{})); diff != "" {
		t.Error(diff)
	}
}

func TestNoiseRules(t *testing.T) {
	still := func() []measure.CaseRound { return medians(100, 100, 100, 100, 100, 100) }
	t.Run("wild rounds, and two speeds", func(t *testing.T) {
		var base, candidate []float64
		for i := range 32 {
			base = append(base, []float64{100, 110}[i/3%2]*(1+0.002*float64(i%3)))
			candidate = append(candidate, base[i]*(1+0.003*float64(i%5-2)))
		}
		candidate[7] *= 1.5
		none := map[string][]float64{} // saves the gates
		c := doctor.NewNoise(sides(medians(base...), medians(candidate...)), ratchet.Default(), none).Cases[0]
		if c.Wild != 1 || c.Speeds != 2 {
			t.Errorf("%d wild rounds and %d speeds, want 1 and 2", c.Wild, c.Speeds)
		}
	})
	t.Run("no less than the timer's step", func(t *testing.T) {
		var base, candidate []measure.CaseRound
		for range 4 {
			base, candidate = append(base, still()...), append(candidate, still()...)
		}
		for i := range base {
			base[i].Quantum, candidate[i].Quantum, candidate[i].Batch = 10, 10, 2
		}
		n := noiseOf(sides(base, candidate))
		if len(n.Prospects) != 1 || n.Prospects[0].Slowdown < 0.05 { // a step of 10 in 100
			t.Errorf("%+v", n.Prospects)
		}
	})
	t.Run("more than chance", func(t *testing.T) {
		n := noiseOf(sides(still(), medians(103, 103.1, 102.9, 103, 103.1, 102.9)))
		if c := n.Cases[0]; !c.Biased || math.Abs(c.Offset-0.03) > 0.001 {
			t.Errorf("biased %v, offset %v", c.Biased, c.Offset)
		}
		if n = noiseOf(sides(still(), medians(103, 97, 104, 99, 98, 100))); n.Cases[0].Biased {
			t.Error("chance is called a bias")
		}
	})
	t.Run("wide rounds are pointed out", func(t *testing.T) {
		wide := still()
		for i := range wide {
			wide[i].Samples = measure.Samples{80, 100, 120}
		}
		if n := noiseOf(sides(wide, wide)); !n.Cases[0].Noisy {
			t.Errorf("within %v", n.Cases[0].Within)
		}
		if n := noiseOf(sides(still(), still())); n.Cases[0].Noisy {
			t.Errorf("within %v", n.Cases[0].Within)
		}
	})
	t.Run("dropped rounds do not count", func(t *testing.T) {
		run := sides(medians(100, 100, 100), medians(100, 900, 100))
		run.Rounds[1].Dropped = "hot"
		if n := noiseOf(run); n.Rounds != 2 || n.Cases[0].Rounds != 2 || n.Cases[0].Paired != 0 {
			t.Errorf("%+v", n)
		}
	})
	t.Run("one round says nothing", func(t *testing.T) {
		n := noiseOf(sides(medians(100), medians(101)))
		if c := n.Cases[0]; c.Error == "" || n.Prospects != nil {
			t.Errorf("%+v", c)
		}
		if w := strings.Join(n.Words(), "\n"); !strings.HasPrefix(w, "no conclusion is possible") || n.Advice(doctor.Report{}) != nil {
			t.Errorf("words %q, help %v", w, n.Advice(doctor.Report{}))
		}
	})
	t.Run("a case that fails", func(t *testing.T) {
		failed := []measure.CaseRound{{Error: "no memory"}, {Error: "no memory"}}
		if c := noiseOf(sides(failed, failed)).Cases[0]; c.Error != "no memory" {
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
			if diff := cmp.Diff(tt.want, noiseOf(tt.run).Cases[0].Other); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
	})
}

// What is promised of a machine holds on it: slowdowns as small as the one reported are found 95 times in 100, and the
// same code has as many false alarms, and gates without an answer, as reported.
func TestProspect(t *testing.T) {
	const sd = 0.03
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int, shift float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = 100 * math.Exp(shift+sd/math.Sqrt2*rng.NormFloat64())
		}
		return list
	}
	n := noiseOf(sides(medians(normal(2000, 0)...), medians(normal(2000, 0)...)))
	if len(n.Prospects) != 1 || len(n.Dependence) != 1 {
		t.Fatalf("%d prospects, dependence %v", len(n.Prospects), n.Dependence)
	}
	told := n.Prospects[0]
	p := ratchet.Default()
	p.Dependence = n.Dependence
	const tries = 1000
	said := func(shift float64) map[ratchet.Verdict]int {
		count := map[ratchet.Verdict]int{}
		for range tries {
			run := sides(medians(normal(64, 0)...), medians(normal(64, shift)...))
			runs := []*measure.Run{run}
			e := ratchet.Gather(runs, runs, measure.Base, measure.Candidate)
			e[0].Gate = true
			for _, look := range p.Looks {
				part := slices.Clone(e)
				part[0].Base, part[0].Candidate = e[0].Base[:look], e[0].Candidate[:look]
				if look == 64 || len(ratchet.Undecided(p, part)) == 0 {
					count[ratchet.Judge(p, part).Verdict]++
					break
				}
			}
		}
		return count
	}
	if got := said(math.Log1p(told.Slowdown))[ratchet.Regression]; got < 0.91*tries || got > 0.985*tries {
		t.Errorf("a slowdown of %.1f %% is found in %d of %d gates", told.Slowdown*100, got, tries)
	}
	same := said(0)
	if got := float64(same[ratchet.Inconclusive]) / tries; math.Abs(got-told.Open) > 0.03 {
		t.Errorf("of the same code %.3f have no answer, and %.3f is told", got, told.Open)
	}
	if told.False > 0.003 || same[ratchet.Regression] > 3 {
		t.Errorf("false alarms: %v is told, and %d of %d are seen", told.False, same[ratchet.Regression], tries)
	}
}

// Speeds that last make false alarms, and doctor says so before a gate does.
func TestProspectOfDependentRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var base, candidate []float64
	speed := [2]float64{1, 1}
	for range 640 {
		for side := range speed {
			if rng.IntN(4) == 0 {
				speed[side] = 1 + 0.05*float64(rng.IntN(2))
			}
		}
		base = append(base, 100*speed[0]*(1+0.002*rng.NormFloat64()))
		candidate = append(candidate, 100*speed[1]*(1+0.002*rng.NormFloat64()))
	}
	n := noiseOf(sides(medians(base...), medians(candidate...)))
	words := strings.Join(n.Words(), "\n")
	for _, want := range []string{"b runs at 2 speeds", "rounds here depend on each other", "gates made from the 640 rounds"} {
		if !strings.Contains(words, want) {
			t.Errorf("the words do not say %q:\n%s", want, words)
		}
	}
	if n.Cases[0].Lag < 0.5 {
		t.Errorf("lag-1 is %.2f", n.Cases[0].Lag)
	}
}

// A ratio of 1e600 is no number: it must not become a NaN.
func TestNoiseOf_RatioOverflows(t *testing.T) {
	n := noiseOf(sides(medians(1e-300, 1e-300), medians(1e-300, 1e300)))
	if _, err := json.Marshal(n); err != nil {
		t.Fatal(err)
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
		n := noiseOf(run)
		if _, err := json.Marshal(n); err != nil {
			t.Fatal(err)
		}
		if len(n.Words()) == 0 {
			t.Fatal("nothing is said")
		}
		n.Advice(doctor.Report{})
	})
}

func TestHelp(t *testing.T) {
	quiet := doctor.CaseNoise{Case: "q", Timer: measure.TimerWall, Rounds: 8}
	loud := doctor.CaseNoise{Case: "l", Timer: measure.TimerWall, Rounds: 8, Paired: 0.2}
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
		want  []string // how each starts
	}{
		{"quiet", []doctor.CaseNoise{quiet}, machine, nil},
		{"loud", []doctor.CaseNoise{quiet, loud}, machine, []string{"governor: G", "virtual: V", "clocks: C"}},
		{"wide", []doctor.CaseNoise{wide}, machine, []string{"governor: G", "virtual: V", "clocks: C"}},
		{"CPU time is better", []doctor.CaseNoise{cpuBetter}, machine, []string{"use cpu time (measure: {timer: cpu}): for the same runs of l it spreads by 1.0 %, not 20.0 %", "governor: G", "clocks: C"}},
		{"CPU time is no better", []doctor.CaseNoise{cpuNoBetter}, doctor.Report{}, []string{"nothing that pawl checks disturbs this machine"}},
		{"cold", []doctor.CaseNoise{unsteady}, doctor.Report{}, []string{"warm up longer (measure: {warmup: N}): l was still changing when its samples started, 3 times out of 16"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := doctor.Noise{Cases: tt.cases}.Advice(tt.found)
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

// All stored runs of a case decide which one is the quietest, not the last run alone.
func TestProspectsGoByWhatIsKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	run := sides(medians(100, 100.1, 100, 99.9), medians(100, 100, 100.1, 100)) // b was quiet this time
	for _, c := range run.Cases[:2] {
		c.Benchmark = "a"
		c.Rounds = medians(100, 101, 99, 100)
		run.Cases = append(run.Cases, c)
	}
	kept := map[string][]float64{}
	for range 32 {
		kept["a"], kept["b"] = append(kept["a"], 0.002*rng.NormFloat64()), append(kept["b"], 0.03*rng.NormFloat64())
	}
	p := doctor.NewNoise(run, ratchet.Default(), kept).Prospects
	if len(p) != 2 || p[0].Case != "a" || p[1].Case != "b" || p[0].Slowdown >= p[1].Slowdown {
		t.Errorf("%+v", p)
	}
}
