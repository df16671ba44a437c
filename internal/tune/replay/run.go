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
	// Noisy draws one of the raw times where otherwise the median is told.
	Noisy bool
}

// Step is the state of a search after an evaluation.
type Step struct {
	Point    int
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

// Run lets a strategy search a recording.
func Run(rec *Recording, s search.Strategy, plan Plan, seed uint64) Trace {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	var trace Trace
	now := Step{Best: -1}
	least := math.Inf(1)
	visited := make(map[int]bool, plan.Evaluations)
	for len(trace) < plan.Evaluations && (plan.Seconds == 0 || now.Spent < plan.Seconds) {
		asked := s.Ask(1)
		if len(asked) == 0 {
			break
		}
		point := asked[0]
		o := rec.outcome(point, plan.Noisy, rng)
		if !o.Failed && o.Value < least {
			least, now.Best, now.Fraction = o.Value, point, rec.Optimum/rec.Rows[point].Time
		}
		if !visited[point] {
			visited[point] = true
			now.Point = point
			now.Spent += o.Cost
			trace = append(trace, now)
		}
		s.Tell(o)
	}
	return trace
}

func (r *Recording) outcome(point int, noisy bool, rng *rand.Rand) search.Outcome {
	row := r.Rows[point]
	o := search.Outcome{Point: point, Value: row.Time, Failed: row.Failed(), Cost: row.Cost}
	if noisy && len(row.Times) > 0 {
		o.Value = row.Times[rng.IntN(len(row.Times))]
	}
	return o
}
