package comment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

const (
	madeHead = "4f3c2b1a09876543210fedcba98765432100aaaa"
	madeBase = "0123456789abcdef0123456789abcdef01234567"
)

var madeNow = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// madeCase is a case whose candidate takes so much longer than its base.
type madeCase struct {
	name   string // benchmark
	config string
	us     float64
	effect float64
	broken string
	gone   bool // the candidate does not have it
	wild   bool // the rounds do not agree
}

// madeRun is a record of 16 rounds that wobble by a thousandth, up and down in turn.
func madeRun(cases ...madeCase) *measure.Run {
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: "01HZZZ", Source: measure.Measured, Created: madeNow,
		Suite: measure.SuiteRef{Name: "attention"}, Device: gpu.Identity{Name: "NVIDIA L4", Kind: "nvidia", Driver: "550.54"},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: madeHead}, {Name: measure.Base, Commit: madeBase, Ref: "main"}},
		Plan:            measure.Plan{PricePerHour: 0.8},
	}}
	run.End = measure.End{State: measure.Complete, Seconds: 95, Dollars: 0.0211}
	const rounds = 16
	for i := range rounds {
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
	}
	for _, c := range cases {
		for _, side := range []string{measure.Candidate, measure.Base} {
			if c.gone && side == measure.Candidate {
				continue
			}
			m := measure.Case{
				CaseKey: measure.CaseKey{Benchmark: c.name, Config: c.config, Implementation: side}, Unit: "ns", Better: measure.Lower, Gate: true, Timer: measure.TimerDevice,
			}
			for i := range rounds {
				at := 1e3 * c.us * (1 + 0.001*float64(1-2*(i%2)))
				if side == measure.Candidate {
					at *= 1 + c.effect
					if c.wild {
						at *= 1 + 0.2*float64(1-2*(i/2%2))
					}
				}
				r := measure.CaseRound{Round: i, Quantum: 1, Samples: measure.Samples{at * 0.999, at, at * 1.001}}
				if c.broken != "" && side == measure.Candidate {
					r = measure.CaseRound{Round: i, Error: c.broken}
				}
				m.Rounds = append(m.Rounds, r)
			}
			run.Cases = append(run.Cases, m)
		}
	}
	return run
}

// base is the suite of the base with a benchmark of one parameter, and what a test adds.
func base(t testing.TB, more string) *suite.Suite {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte("version: 1\nharness: {command: ./h}\n"+more))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged is the input for a record that nobody has anything against.
func judged(t testing.TB, run *measure.Run, more string) comment.Input {
	t.Helper()
	s := base(t, more)
	j := comment.Judge(run, s, ratchet.Default(), false, madeNow)
	return comment.Input{
		SHA: madeHead, Run: run, Result: j.Result, Drift: j.Drift, Claimed: j.Result.Verdict, Gate: s.Gate,
		Quarantined: j.Quarantined, Released: j.Released, Now: madeNow,
		Links: comment.Links{Run: "https://github.com/o/n/actions/runs/1", Artifact: "https://github.com/o/n/actions/runs/1/artifacts/2"},
	}
}

// The usual things that happen, by name.
var made = map[string][]madeCase{
	"maintained":   {{name: "attention", config: "S512", us: 100}, {name: "softmax", config: "N64", us: 30}},
	"improvement":  {{name: "attention", config: "S512", us: 100, effect: -0.2}, {name: "softmax", config: "N64", us: 30}},
	"regression":   {{name: "attention", config: "S512", us: 100, effect: 0.06}, {name: "softmax", config: "N64", us: 30, effect: -0.2}},
	"broken":       {{name: "attention", config: "S512", us: 100, broken: "element 3 is off by 0.2"}, {name: "softmax", config: "N64", us: 30}},
	"missing":      {{name: "attention", config: "S512", us: 100, gone: true}, {name: "softmax", config: "N64", us: 30}},
	"inconclusive": {{name: "attention", config: "S512", us: 100, wild: true}, {name: "softmax", config: "N64", us: 30}},
}

func many(n int, effect float64) []madeCase {
	var list []madeCase
	for i := range n {
		list = append(list, madeCase{name: "attention", config: fmt.Sprintf("B%d_H8_S512_D64", i), us: 100 + float64(i), effect: effect})
	}
	return list
}
