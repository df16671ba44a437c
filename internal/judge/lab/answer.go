package lab

import (
	"math"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Answer is the answer of a method about two sides.
type Answer string

// The answers. Abstains counts as an answer: the method recognizes that it cannot decide.
const (
	Slower   Answer = "regression"
	Faster   Answer = "improvement"
	Nothing  Answer = "nothing"
	Abstains Answer = "abstains"
)

// answerOf maps a verdict of pawl to the answers that all methods share.
func answerOf(v ratchet.Verdict) Answer {
	switch v {
	case ratchet.Regression:
		return Slower
	case ratchet.Improvement:
		return Faster
	case ratchet.Maintained, ratchet.Identical:
		return Nothing
	default:
		return Abstains
	}
}

// Outcome is an answer and its cost.
type Outcome struct {
	Answer Answer
	Rounds int // rounds per side
}

// Tally counts the outcomes of similar comparisons.
type Tally struct {
	Trials      int `json:"trials"`
	Regression  int `json:"regression"`
	Improvement int `json:"improvement"`
	Nothing     int `json:"nothing"`
	Abstains    int `json:"abstains"`
	Rounds      int `json:"rounds"` // per side, over all trials
}

func (t *Tally) add(o Outcome) {
	t.Trials++
	t.Rounds += o.Rounds
	switch o.Answer {
	case Slower:
		t.Regression++
	case Faster:
		t.Improvement++
	case Nothing:
		t.Nothing++
	case Abstains:
		t.Abstains++
	}
}

// MeanRounds returns the mean number of rounds per side of a comparison.
func (t Tally) MeanRounds() float64 { return float64(t.Rounds) / float64(max(t.Trials, 1)) }

// Rate is a share of trials with its 95 % confidence interval.
type Rate struct {
	Count  int     `json:"count"`
	Trials int     `json:"trials"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// NewRate computes a rate with Wilson's interval. It stays within 0 and 1, and is meaningful for a count
// of 0, where the textbook interval is empty.
func NewRate(count, trials int) Rate {
	if trials <= 0 {
		return Rate{High: 1}
	}
	const z = 1.959964
	n, p := float64(trials), float64(count)/float64(trials)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r := Rate{Count: count, Trials: trials, Value: p, Low: max(middle-half, 0), High: min(middle+half, 1)}
	if count == 0 {
		r.Low = 0
	}
	if count == trials {
		r.High = 1
	}
	return r
}
