package sweep_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/measure"
)

// times are the medians of the rounds of one implementation on one config; a zero
// is a round that failed.
type times struct {
	config, implementation string
	rounds                 []float64
}

// record is a run with these times; rounds have a single sample, which is its own
// median.
func record(all ...times) *measure.Run {
	run := &measure.Run{}
	run.ID, run.Suite.Name, run.Device.Name = "01SWEEP", "attention", "NVIDIA L4"
	known := map[string]bool{}
	for _, t := range all {
		if !known[t.implementation] {
			known[t.implementation] = true
			run.Implementations = append(run.Implementations, measure.Implementation{Name: t.implementation})
		}
		c := measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "attention", Config: t.config, Implementation: t.implementation},
			Unit:    "ns", Timer: measure.TimerDevice,
		}
		for r, v := range t.rounds {
			round := measure.CaseRound{Round: r, Samples: measure.Samples{v}}
			if v == 0 {
				round.Samples, round.Error = nil, "out of memory"
			}
			c.Rounds = append(c.Rounds, round)
			if r == len(run.Rounds) {
				run.Rounds = append(run.Rounds, measure.Round{Index: r})
			}
		}
		run.Cases = append(run.Cases, c)
	}
	return run
}

// noisy draws rounds around a level, with a spread that all implementations of a
// round share and one of their own.
func noisy(rng *rand.Rand, levels map[string]float64, order []string, config string, rounds int, together, own float64) []times {
	machine := make([]float64, rounds)
	for r := range machine {
		machine[r] = math.Exp(together * rng.NormFloat64())
	}
	var list []times
	for _, name := range order {
		t := times{config: config, implementation: name}
		for r := range rounds {
			t.rounds = append(t.rounds, levels[name]*machine[r]*math.Exp(own*rng.NormFloat64()))
		}
		list = append(list, t)
	}
	return list
}

// failer is a test, or one of rapid's.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func analyse(t failer, run *measure.Run) *sweep.Result {
	t.Helper()
	r, err := sweep.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ranks are those of a config as people read them: "a 1, b 2-3, c 2-3".
func ranks(standings []sweep.Standing) []string {
	var list []string
	for _, s := range standings {
		text := fmt.Sprintf("%s %d", s.Implementation, s.Rank)
		if s.RankTo != s.Rank {
			text += fmt.Sprintf("-%d", s.RankTo)
		}
		list = append(list, text)
	}
	return list
}

// wobble is a level with a small, balanced alternation around it, so that rounds
// have a spread and their geometric mean is the level. Phases 0 to 2 differ from each
// other by as much as from the level.
func wobble(level, share float64, phase, rounds int) []float64 {
	list := make([]float64, rounds)
	for r := range list {
		up := [...]bool{r%2 == 0, r%4 < 2, (r+1)%4 < 2}[phase]
		list[r] = level * (1 + share)
		if !up {
			list[r] = level / (1 + share)
		}
	}
	return list
}
