package lab

import (
	"math"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Answer is what a method says of two sides.
type Answer string

// The answers. Abstains is an answer too: a method that knows what it does not know.
const (
	Slower   Answer = "regression"
	Faster   Answer = "improvement"
	Nothing  Answer = "nothing"
	Abstains Answer = "abstains"
)

// answerOf puts pawl's verdicts into the words that all methods share.
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

// Outcome is an answer with what it cost.
type Outcome struct {
	Answer Answer
	Rounds int // a side
}

// Tally counts outcomes of comparisons that are alike.
type Tally struct {
	Trials      int `json:"trials"`
	Regression  int `json:"regression"`
	Improvement int `json:"improvement"`
	Nothing     int `json:"nothing"`
	Abstains    int `json:"abstains"`
	Rounds      int `json:"rounds"` // of all trials, a side
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

// MeanRounds is how many rounds a side a comparison took.
func (t Tally) MeanRounds() float64 { return float64(t.Rounds) / float64(max(t.Trials, 1)) }

// Rate is a share of trials with the interval that holds the true one, with 95 %
// confidence.
type Rate struct {
	Count  int     `json:"count"`
	Trials int     `json:"trials"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// NewRate is Wilson's interval: it stays inside 0 to 1 and says something of a count
// of 0, where the textbook's is empty.
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
