package replay

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// Plan says how a recording is searched.
type Plan struct {
	Evaluations int
	// Seconds ends the search when so much was spent by the recorded costs; 0 is no end.
	Seconds float64
	// Noisy draws one of the raw times where otherwise the median is told, and lets the
	// best of the search race for the final choice.
	Noisy bool
}

// Step is the state of a search after an evaluation.
type Step struct {
	Outcome  search.Outcome
	Spent    float64 // seconds so far
	Best     int     // the point it would choose now; -1 while nothing worked
	Fraction float64 // optimum over the recorded median time of Best; 0 while nothing worked
}

// Trace is a whole search, one step an evaluation.
type Trace []Step

// At is the fraction of the optimum after so many evaluations. A search that ended by
// itself keeps its last.
func (t Trace) At(evaluations int) float64 {
	if len(t) == 0 || evaluations <= 0 {
		return 0
	}
	return t[min(evaluations, len(t))-1].Fraction
}

// After is the fraction of the optimum after so many seconds.
func (t Trace) After(seconds float64) float64 {
	last := 0.0
	for _, s := range t {
		if s.Spent > seconds {
			break
		}
		last = s.Fraction
	}
	return last
}

// Outcomes is what the strategy was told: a source for a warm start elsewhere.
func (t Trace) Outcomes() []search.Outcome {
	list := make([]search.Outcome, len(t))
	for i, s := range t {
		list[i] = s.Outcome
	}
	return list
}

// Run lets a strategy search a recording. All chance in it comes from the seed and the
// strategy.
func Run(rec *Recording, s search.Strategy, plan Plan, seed uint64) Trace {
	rng := noise(seed)
	var trace Trace
	now, least := Step{Best: -1}, math.Inf(1)
	for len(trace) < plan.Evaluations && (plan.Seconds == 0 || now.Spent < plan.Seconds) {
		asked := s.Ask(1) // never a point twice: that is the contract of a strategy
		if len(asked) == 0 {
			break
		}
		o := rec.evaluate(asked[0], plan.Noisy, rng)
		if !o.Failed && o.Value < least {
			least, now.Best, now.Fraction = o.Value, o.Point, rec.fraction(o.Point)
		}
		now.Outcome = o
		now.Spent += o.Cost
		trace = append(trace, now)
		s.Tell(o)
	}
	return trace
}

// Choose lets the best of a search race, with raw times drawn one by one, and gives the
// point that is chosen in the end, -1 when nothing worked, and how many times were drawn.
func Choose(rec *Recording, t Trace, seed uint64) (point, draws int) {
	rng := noise(seed + 1<<32)
	runoff := search.NewRunoff(t.Outcomes())
	for p, ok := runoff.Next(); ok; p, ok = runoff.Next() {
		runoff.Tell(p, rec.evaluate(p, true, rng).Value)
	}
	p, ok := runoff.Winner()
	if !ok {
		p = -1
	}
	return p, runoff.Draws()
}

func noise(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

func (r *Recording) fraction(point int) float64 { return r.Optimum / r.Rows[point].Time }

func (r *Recording) evaluate(point int, noisy bool, rng *rand.Rand) search.Outcome {
	row := r.Rows[point]
	o := search.Outcome{Point: point, Value: row.Time, Failed: row.Failed(), Cost: row.Cost}
	if noisy && len(row.Times) > 0 {
		o.Value = row.Times[rng.IntN(len(row.Times))]
	}
	return o
}
