package lesson

import (
	"fmt"
	"math"
)

// How a lesson's weight comes about. It is the mean of a Beta distribution that begins flat
// (one success, one failure, so that a new lesson weighs a half) and counts outcomes: each
// by the probability that what the lesson predicts was there.
const (
	refutedBelow   = 0.25 // three outcomes that fell short, and none that held
	confirmedAt    = 3    // outcomes that held surely
	confirmedFrom  = 2    // sessions they are from
	confirmedAbove = 0.5  // weight that it must have besides
	reviewCounts   = 3    // outcomes that a person's yes stands for

	sure      = 0.9  // probability from which on an outcome held
	noticed   = 0.02 // gain, as a logarithm, that a lesson without a claim predicts at least
	leastOf   = 0.5  // share of a claimed gain that has to be there
	bestError = 0.01 // no gain is known better than this
	anyError  = 0.05 // of a gain of which nobody can tell how well it is known
)

// need is the gain from which on a lesson's prediction holds. One that claims more has more
// to show.
func need(claim *float64) float64 {
	if claim == nil || !(*claim > 0 && *claim < 1) {
		return noticed
	}
	return max(noticed, leastOf*-math.Log1p(-*claim))
}

// Held is the probability that the prediction of a lesson held: that the true gain is what
// the lesson needs. ok is false for an outcome that says nothing.
func Held(claim *float64, o Outcome) (p float64, ok bool) {
	if o.Wrong {
		return 0, true
	}
	if math.IsNaN(o.Gain) || math.IsInf(o.Gain, 0) || math.IsNaN(o.Error) || math.IsInf(o.Error, 0) {
		return 0, false
	}
	err := o.Error
	if err <= 0 {
		err = anyError
	}
	z := (o.Gain - need(claim)) / max(bestError, err)
	return math.Erfc(-z/math.Sqrt2) / 2, true
}

// tally is what was seen of a lesson.
type tally struct {
	seen, sure   int
	held, failed float64
	gains        float64
	sessions     map[string]bool // of the outcomes that held surely
}

func (t *tally) add(claim *float64, o Outcome) {
	p, ok := Held(claim, o)
	if !ok {
		return
	}
	t.seen++
	t.held += p
	t.failed += 1 - p
	if !o.Wrong {
		t.gains += o.Gain
	}
	if p >= sure {
		t.sure++
		if t.sessions == nil {
			t.sessions = map[string]bool{}
		}
		t.sessions[o.Session] = true
	}
}

// weight is how far a lesson is believed, from 0 to 1.
func (t *tally) weight(review State) float64 {
	held := t.held
	switch review {
	case Refuted:
		return 0
	case Confirmed:
		held += reviewCounts
	case Proposed:
	}
	return (1 + held) / (2 + held + t.failed)
}

// state is what a lesson is by now: what the last review says, else what was seen of it. A
// file cannot confirm itself, so that written counts only where it takes something back.
func (t *tally) state(written, review State) (State, string) {
	switch w := t.weight(""); {
	case review != "":
		return review, "reviewed"
	case w < refutedBelow:
		return Refuted, fmt.Sprintf("its prediction held in %s", t.score())
	case t.sure >= confirmedAt && len(t.sessions) >= confirmedFrom && w >= confirmedAbove && written != Refuted:
		return Confirmed, fmt.Sprintf("its prediction held in %s, from %d sessions", t.score(), len(t.sessions))
	case written == Refuted:
		return Refuted, "its author took it back"
	case t.seen > 0:
		return Proposed, fmt.Sprintf("its prediction held in %s", t.score())
	}
	return Proposed, "nobody tried it yet"
}

func (t *tally) score() string {
	if t.seen == 1 {
		return fmt.Sprintf("%.1f of 1 outcome", t.held)
	}
	return fmt.Sprintf("%.1f of %d outcomes", t.held, t.seen)
}
