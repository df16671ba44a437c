package lesson

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// How outcomes prove a lesson.
const (
	// Noticed is the gain, as a logarithm, from which on an outcome counts as one that held.
	Noticed = 0.02
	// priorWeight is how many outcomes without a gain a lesson starts with: one lucky outcome
	// proves little.
	priorWeight   = 2
	confirmedAt   = 3 // outcomes that held
	confirmedFrom = 2 // sessions they are from
	refutedAt     = 3 // outcomes that did not hold, more than three times as many as did
)

// Book holds lessons with their outcomes and reviews.
type Book struct {
	entries []*entry
	byName  map[string]*entry
}

type entry struct {
	lesson          *Lesson
	starter, edited bool
	review          *Review // the last
	gains           []float64
	held            int
	sessions        map[string]bool // of the outcomes that held
}

func (b *Book) add(e *entry) error {
	name := e.lesson.Name
	switch {
	case !nameForm.MatchString(name):
		return fmt.Errorf("%.80q is not the name of a lesson: use lower-case letters, digits and dashes", name)
	case b.byName[name] != nil:
		return fmt.Errorf("lesson %s: another lesson has this name", name)
	}
	b.entries = append(b.entries, e)
	b.byName[name] = e
	return nil
}

// Learn adds the outcomes of the lessons that were followed in a session.
func (b *Book) Learn(session string, attempts []journal.Attempt) {
	for _, a := range attempts {
		e := b.byName[a.Lesson]
		if e == nil || math.IsNaN(a.Gain) || math.IsInf(a.Gain, 0) {
			continue
		}
		gain := a.Gain
		if !a.Correct() {
			gain = min(gain, 0) // a wrong result has no speed
		}
		e.gains = append(e.gains, gain)
		if gain >= Noticed {
			e.held++
			e.sessions[session] = true
		}
	}
}

// Review adds a person's decision. In whichever order they come, the latest counts.
func (b *Book) Review(r Review) {
	later := func(a, b Review) bool { // also within one moment: every reader gets the same state
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.State, b.State), cmp.Compare(a.By, b.By), cmp.Compare(a.Reason, b.Reason)) > 0
	}
	if e := b.byName[r.Lesson]; e != nil && (e.review == nil || later(r, *e.review)) {
		e.review = &r
	}
}

// Standing is a lesson with what is known of it by now.
type Standing struct {
	Lesson
	State    State   `json:"state"`
	Why      string  `json:"why"`            // it is in that state
	Seen     int     `json:"seen"`           // outcomes
	Held     int     `json:"held"`           // of them, with a gain
	Gain     float64 `json:"gain,omitempty"` // mean of the outcomes as a logarithm, shrunk to none
	Starter  bool    `json:"starter"`        // pawl comes with it
	Edited   bool    `json:"edited"`         // its text is not the one that its name was made for
	Speaks   bool    `json:"speaks"`         // it matches the facts that were given
	Reviewed *Review `json:"review,omitempty"`
}

func (e *entry) standing() Standing {
	s := Standing{Lesson: *e.lesson, Seen: len(e.gains), Held: e.held, Starter: e.starter, Edited: e.edited, Reviewed: e.review}
	for _, g := range e.gains {
		s.Gain += g / float64(priorWeight+len(e.gains))
	}
	failed := s.Seen - s.Held
	score := fmt.Sprintf("%d of %s had a gain", s.Held, words.Plural(s.Seen, "outcome"))
	switch {
	case e.review != nil:
		s.State, s.Why = e.review.State, fmt.Sprintf("%s by %s: %s", e.review.State, e.review.By, e.review.Reason)
		if s.Seen > 0 {
			s.Why += "; " + score
		}
	case s.Seen == 0:
		s.State, s.Why = Proposed, "not tried yet"
	case failed >= refutedAt && failed > 3*s.Held:
		s.State, s.Why = Refuted, score
	case s.Held >= confirmedAt && s.Held > failed && len(e.sessions) >= confirmedFrom:
		s.State, s.Why = Confirmed, score
	default:
		s.State, s.Why = Proposed, score
	}
	return s
}

// Measured reports whether outcomes show a gain.
func (s Standing) Measured() bool { return s.Seen > 0 && s.Gain >= Noticed }

// rank orders lessons by evidence: measured gains, then untried ones, then those that did nothing, then
// refuted ones. What a lesson claims does not count.
func (s Standing) rank() int {
	switch {
	case s.State == Refuted:
		return 3
	case s.Measured():
		return 0
	case s.Seen == 0:
		return 1
	}
	return 2
}

func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// All returns the lessons, those that match the facts first, then by evidence.
func (b *Book) All(f Facts) []Standing {
	v := f.view()
	var list []Standing
	for _, e := range b.entries {
		s := e.standing()
		s.Speaks = v.matches(e.lesson)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Standing) int {
		return cmp.Or(
			cmp.Compare(truth(b.Speaks), truth(a.Speaks)), cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Gain, a.Gain),
			cmp.Compare(truth(a.Starter), truth(b.Starter)), cmp.Compare(a.Name, b.Name),
		)
	})
	return list
}

// Speaking returns the lessons that match the facts and are not refuted, by evidence.
func (b *Book) Speaking(f Facts) []Standing {
	return slices.DeleteFunc(b.All(f), func(s Standing) bool { return !s.Speaks || s.State == Refuted })
}

// Find returns a lesson by its name, or by a prefix that no other has.
func (b *Book) Find(name string) (Standing, error) {
	if e := b.byName[name]; e != nil {
		return e.standing(), nil
	}
	var match, names []string
	for _, e := range b.entries {
		names = append(names, e.lesson.Name)
		if name != "" && strings.HasPrefix(e.lesson.Name, name) {
			match = append(match, e.lesson.Name)
		}
	}
	switch len(match) {
	case 0:
		hint := "see `pawl lesson list`"
		if near := spell.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return Standing{}, fmt.Errorf("there is no lesson %.80q: %s", name, hint)
	case 1:
		return b.byName[match[0]].standing(), nil
	}
	return Standing{}, fmt.Errorf("%d lessons start with %.80q, such as %s and %s: write more of the name", len(match), name, match[0], match[1])
}
