// Package untrustedtest makes run records for tests. They are what an honest job would send;
// tests modify them.
package untrustedtest

import (
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Suite is the base's suite for the records.
const Suite = `version: 1
name: kernels
harness: {command: ./h}
metrics:
  speed: {unit: GFLOP/s, better: higher, expr: flops / time, gate: false}
benchmarks:
  softmax: {matrix: {N: [128, 256]}, flops: N * N}
  sum: {matrix: {N: [64]}, gate: false}
`

// Head and Base are the commits of the records.
const (
	Head = "1111111111111111111111111111111111111111"
	Base = "2222222222222222222222222222222222222222"
)

// Record returns a complete run of Suite. Slower holds the slowdown of the candidate by
// case name: 0.1 for 10 %.
func Record(slower map[string]float64) *measure.Run {
	rng := rand.New(rand.NewPCG(1, 2))
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: "01JNF0000000000000000000AB", Created: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC),
		Source: measure.Measured, Trust: measure.Trusted, Suite: measure.SuiteRef{Name: "kernels", Path: "pawl.yaml"},
		Device:          gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54.15"},
		Testbed:         measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "550.54.15"},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: Head}, {Name: measure.Base, Commit: Base}},
		Plan:            measure.Plan{Growth: []int{4, 8, 16, 32}, Samples: 10},
	}}
	const rounds = 16
	for i := range rounds {
		run.Rounds = append(run.Rounds, measure.Round{Index: i, Order: []string{measure.Base, measure.Candidate}})
	}
	for _, k := range []struct {
		benchmark, config string
		n                 float64
		gate              bool
	}{{"softmax", "N128", 128, true}, {"softmax", "N256", 256, true}, {"sum", "N64", 64, false}} {
		base := measure.Case{
			CaseKey: measure.CaseKey{Benchmark: k.benchmark, Config: k.config, Implementation: measure.Base},
			Params:  map[string]any{"N": k.n}, Unit: "ns", Better: measure.Lower, Gate: k.gate, Timer: measure.TimerDevice,
		}
		now := base
		now.Implementation = measure.Candidate
		for i := range rounds {
			machine := 1 + 0.002*rng.NormFloat64()
			base.Rounds = append(base.Rounds, round(rng, i, 1e5*machine))
			now.Rounds = append(now.Rounds, round(rng, i, 1e5*machine*(1+slower[base.Name()])))
		}
		run.Cases = append(run.Cases, now, base)
	}
	run.End = measure.End{State: measure.Complete, Seconds: 60, Dollars: 0.01}
	return run
}

func round(rng *rand.Rand, index int, ns float64) measure.CaseRound {
	r := measure.CaseRound{Round: index}
	for range 10 {
		r.Samples = append(r.Samples, float64(int64(ns*(1+0.001*rng.NormFloat64()))))
	}
	return r
}
