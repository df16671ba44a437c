package replay

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// Plan configures the search of a recording.
type Plan struct {
	Evaluations int
	// Seconds ends the search after this much time by the recorded costs; 0 means no limit.
	Seconds float64
	// Noisy reports a randomly drawn raw time instead of the median, and makes the final choice
	// by a runoff of the best points.
	Noisy bool
}

// Step is the state of a search after an evaluation.
type Step struct {
	Outcome  search.Outcome
	Spent    float64 // seconds so far
	Best     int     // the point it would choose now; -1 before the first success
	Fraction float64 // optimum over the recorded median time of Best; 0 before the first success
}

// Trace is a whole search, one step per evaluation.
type Trace []Step

// At returns the fraction of the optimum after the given number of evaluations. A search
// that ended earlier keeps its last value.
func (t Trace) At(evaluations int) float64 {
	if len(t) == 0 || evaluations <= 0 {
		return 0
	}
	return t[min(evaluations, len(t))-1].Fraction
}

// After returns the fraction of the optimum after the given number of seconds.
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

// Outcomes returns what the strategy was told, for use as a warm start elsewhere.
func (t Trace) Outcomes() []search.Outcome {
	list := make([]search.Outcome, len(t))
	for i, s := range t {
		list[i] = s.Outcome
	}
	return list
}

// Run lets a strategy search a recording. All randomness comes from the seed and the
// strategy.
func Run(rec *Recording, s search.Strategy, plan Plan, seed uint64) Trace {
	rng := noise(seed)
	var trace Trace
	now, least := Step{Best: -1}, math.Inf(1)
	for len(trace) < plan.Evaluations && (plan.Seconds == 0 || now.Spent < plan.Seconds) {
		asked := s.Ask(1) // never the same point twice, by the contract of Strategy
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

// Choose runs a runoff among the best points of a search with randomly drawn raw times. It
// returns the chosen point, -1 if nothing worked, and how many times were drawn.
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

// Level holds what the repeats reached after a number of evaluations.
type Level struct {
	Evaluations int     `json:"evaluations"`
	Mean        float64 `json:"mean"`
	P10         float64 `json:"p10"` // 10 % of the repeats were worse
}

// Spread returns the mean of values, and the one below which 10 % of them are. It sorts the values.
func Spread(values []float64) (mean, p10 float64) {
	for _, x := range values {
		mean += x / float64(len(values))
	}
	if len(values) > 0 {
		slices.Sort(values)
		p10 = values[len(values)/10]
	}
	return mean, p10
}

// Summarize returns what the repeats reached, as fractions of the optimum.
func Summarize(traces []Trace, evaluations ...int) []Level {
	var list []Level
	for _, n := range evaluations {
		l := Level{Evaluations: n}
		reached := make([]float64, len(traces))
		for i, t := range traces {
			reached[i] = t.At(n)
		}
		l.Mean, l.P10 = Spread(reached)
		list = append(list, l)
	}
	return list
}
