package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// madeCase is a case that a test makes up. Its samples look like those of a GPU: a
// timer that moves in steps, neighbours that resemble each other, a slow tail.
type madeCase struct {
	name    string
	us      float64 // of the base, in microseconds
	effect  float64 // 0.06: the candidate takes 6 % longer
	spread  float64 // between rounds
	bimodal float64 // the share of the candidate's samples that take a tenth longer
	absent  string  // a side that does not have the case
	broken  string  // why the candidate failed
	watched bool
}

// maker makes runs that are the same for every run of the tests.
type maker struct {
	rng     *rand.Rand
	rounds  int
	samples int
}

func newMaker(rounds, samples int) *maker {
	return &maker{rand.New(rand.NewPCG(7, 42)), rounds, samples}
}

var madeAt = time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)

func (m *maker) run(cases ...madeCase) *measure.Run {
	run := &measure.Run{}
	run.ID, run.Created, run.Suite.Name = "01JNF0000000000000000000AB", madeAt, "attention"
	run.Device = gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54.15", CUDA: "12.4"}
	run.Testbed = measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "550.54.15", PowerCapW: 72, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500}}
	run.Implementations = []measure.Implementation{
		{Name: measure.Candidate, Commit: "3f2a9c41d07be5a8f6c2", Build: measure.BuildFacts{Seconds: 8.4}},
		{Name: measure.Base, Commit: "77ab01c9e2d4f6a8b0c1", Ref: "main", Build: measure.BuildFacts{Seconds: 8.1}},
	}
	for r := range m.rounds {
		run.Rounds = append(run.Rounds, measure.Round{Index: r, Sides: []measure.Side{
			{Implementation: measure.Candidate, After: &gpu.State{TemperatureC: 58 + float64(r%3), SMClockMHz: 1500, PowerW: 64.2}},
		}})
	}
	for _, c := range cases {
		run.Cases = append(run.Cases, m.sides(c)...)
	}
	run.End = measure.End{State: measure.Complete, Seconds: 11.5 * float64(m.rounds), Dollars: 0.0026 * float64(m.rounds)}
	return run
}

func (m *maker) sides(c madeCase) []measure.Case {
	base := measure.Case{
		CaseKey: measure.CaseKey{Benchmark: c.name, Implementation: measure.Base},
		Unit:    "ns", Timer: measure.TimerDevice, Gate: !c.watched, Flops: c.us * 2.1e7, Bytes: c.us * 1.4e5,
	}
	now := base
	now.Implementation = measure.Candidate
	for r := range m.rounds {
		machine := 0.008 * m.rng.NormFloat64() // both sides feel it
		base.Rounds = append(base.Rounds, m.round(r, c.us*math.Exp(machine+c.spread*m.rng.NormFloat64()), 0))
		if c.broken != "" {
			now.Rounds = append(now.Rounds, measure.CaseRound{Round: r, Error: c.broken})
			continue
		}
		now.Rounds = append(now.Rounds, m.round(r, c.us*(1+c.effect)*math.Exp(machine+c.spread*m.rng.NormFloat64()), c.bimodal))
	}
	switch c.absent {
	case measure.Base:
		return []measure.Case{now}
	case measure.Candidate:
		return []measure.Case{base}
	default:
		return []measure.Case{now, base}
	}
}

// round has a timer of 1,024 ns, as event timers of GPUs have, and noise that
// remembers.
func (m *maker) round(index int, us, bimodal float64) measure.CaseRound {
	const quantum = 1024
	r := measure.CaseRound{Round: index, Quantum: quantum}
	noise := 0.0
	for range m.samples {
		noise = 0.7*noise + 0.006*m.rng.NormFloat64()
		v := us * 1000 * math.Exp(noise)
		if m.rng.Float64() < bimodal {
			v *= 1.1
		}
		if m.rng.Float64() < 0.004 {
			v *= 1.5 + m.rng.Float64()
		}
		r.Samples = append(r.Samples, quantum*math.Round(v/quantum))
	}
	return r
}

// three is a small report with a regression, an improvement and one with two speeds.
func three() *measure.Run {
	return newMaker(8, 100).run(
		madeCase{name: "attention/B32_H8_S512_D64", us: 312, effect: 0.062, spread: 0.004},
		madeCase{name: "attention/B16_H8_S1024_D64", us: 521, effect: -0.145, spread: 0.004},
		madeCase{name: "attention/B4_H16_S448_D64", us: 96, effect: 0.003, spread: 0.003, bimodal: 0.35},
	)
}

// everyVerdict has a case of each class.
func everyVerdict() *measure.Run {
	return newMaker(8, 60).run(
		madeCase{name: "attention/S512", us: 312, effect: 0.062, spread: 0.004},
		madeCase{name: "attention/S640", us: 410, effect: 0.11, spread: 0.004},
		madeCase{name: "attention/S448", us: 210, effect: 0.08, spread: 0.004, watched: true},
		madeCase{name: "softmax/N4096", us: 88, effect: -0.18, spread: 0.003},
		madeCase{name: "gemm/M4096", us: 1900, effect: 0.004, spread: 0.003},
		madeCase{name: "gemm/M512", us: 140, effect: 0.02, spread: 0.03},
		madeCase{name: "rope/N64", us: 61, broken: "CUDA error 700: an illegal memory access was encountered"},
		madeCase{name: "layernorm/N1024", us: 45, absent: measure.Candidate},
		madeCase{name: "layernorm/N2048", us: 72, absent: measure.Base},
	)
}

// thousand is a large suite in which little changed.
func thousand(rounds, samples int) *measure.Run {
	m := newMaker(rounds, samples)
	var cases []madeCase
	for i := range 1000 {
		c := madeCase{
			name: fmt.Sprintf("%s/B%d_H%d_S%d", []string{"attention", "gemm", "softmax", "layernorm", "rope"}[i%5], 1<<(i%6), 4<<(i%3), 64*(1+i/5)),
			us:   60 + float64(i), effect: 0.004 * m.rng.NormFloat64(), spread: 0.003,
		}
		switch {
		case i%97 == 5:
			c.effect = 0.05 + 0.03*m.rng.Float64()
		case i%83 == 7:
			c.effect = -0.12 - 0.1*m.rng.Float64()
		case i%111 == 3:
			c.spread = 0.04
		case i%125 == 9:
			c.bimodal = 0.3
		}
		cases = append(cases, c)
	}
	return m.run(cases...)
}

// large is a report of a thousand cases. It is judged once.
var large = sync.OnceValue(func() *report.Document { return judged(thousand(8, 12)) })

// judge gives the verdicts on a run that holds both sides.
func judge(run *measure.Run) *ratchet.Result {
	same := []*measure.Run{run}
	r := ratchet.Judge(ratchet.Default().ForPlan(same[0].Plan), ratchet.Gather(same, same, measure.Base, measure.Candidate))
	return &r
}

func judged(run *measure.Run) *report.Document {
	return report.NewDocument(report.Input{
		Run: run, Result: judge(run), Now: madeAt,
		Paths: report.Paths{Record: "results/current.json", Verdict: "results/verdict.json"},
	})
}
