package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// Book is lessons with what is known of each by now.
type Book struct {
	entries []*entry
	byName  map[string]*entry
}

type entry struct {
	lesson          *Lesson
	starter, edited bool
	review          *Review // the last
	tally           tally
}

// NewBook is a book with the lessons that pawl comes with.
func NewBook() *Book { return newBook(Starter()) }

func newBook(starters []*Lesson) *Book {
	b := &Book{byName: map[string]*entry{}}
	for _, l := range starters {
		b.add(&entry{lesson: l, starter: true})
	}
	return b
}

// Add puts a lesson into the book.
func (b *Book) Add(l *Lesson) error { return b.addEntry(&entry{lesson: l}) }

func (b *Book) addEntry(e *entry) error {
	if !nameForm.MatchString(e.lesson.Name) {
		return fmt.Errorf("%.80q is no name of a lesson: small letters, digits and dashes", e.lesson.Name)
	}
	if old := b.byName[e.lesson.Name]; old != nil {
		whose := "another lesson"
		if old.starter {
			whose = "a lesson that pawl comes with"
		}
		return fmt.Errorf("lesson %s: %s has this name", e.lesson.Name, whose)
	}
	if err := e.lesson.Compile(); err != nil {
		return err
	}
	b.add(e)
	return nil
}

func (b *Book) add(e *entry) {
	b.entries = append(b.entries, e)
	b.byName[e.lesson.Name] = e
}

// Learn takes outcomes in. Those of lessons that the book does not have are passed over.
func (b *Book) Learn(outcomes []Outcome) {
	for _, o := range outcomes {
		if e := b.byName[o.Lesson]; e != nil {
			e.tally.add(e.lesson.Claim, o)
		}
	}
}

// Review takes a person's word in. Whichever order they come in, the latest counts.
func (b *Book) Review(r Review) {
	if e := b.byName[r.Lesson]; e != nil && (e.review == nil || later(r, *e.review)) {
		e.review = &r
	}
}

// later orders reviews, those of one moment too: every reader must come to the same state.
func later(a, b Review) bool {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.State, b.State), cmp.Compare(a.By, b.By), cmp.Compare(a.Reason, b.Reason)) > 0
}

// Standing is a lesson as it is by now.
type Standing struct {
	Lesson
	State    State    `json:"state"`
	Why      string   `json:"why"`            // it is in that state
	Weight   float64  `json:"weight"`         // from 0 to 1: how far it is believed
	Seen     int      `json:"seen"`           // outcomes
	Held     float64  `json:"held"`           // of them, as far as anybody can tell, as predicted
	Gain     *float64 `json:"gain,omitempty"` // mean of the outcomes, as a logarithm
	Sessions int      `json:"sessions"`       // in which it surely held
	Starter  bool     `json:"starter"`        // pawl came with it
	Edited   bool     `json:"edited"`         // its text is not the one that its name was given for
	Speaks   bool     `json:"speaks"`         // of the facts that were asked about
	Reviewed *Review  `json:"review,omitempty"`
}

func (e *entry) standing() Standing {
	review := State("")
	if e.review != nil {
		review = e.review.State
	}
	s := Standing{
		Lesson: *e.lesson, Weight: e.tally.weight(review), Seen: e.tally.seen, Held: e.tally.held,
		Sessions: len(e.tally.sessions), Starter: e.starter, Edited: e.edited, Reviewed: e.review,
	}
	s.State, s.Why = e.tally.state(e.lesson.State, review)
	if e.review != nil {
		s.Why = fmt.Sprintf("%s by %s", e.review.State, e.review.By)
		if e.review.Reason != "" {
			s.Why += ": " + e.review.Reason
		}
		if review == Confirmed && e.tally.weight("") < refutedBelow {
			s.Why += "; but its prediction held in " + e.tally.score() + " only"
		}
	}
	if s.State == Refuted && review != Refuted {
		s.Weight = min(s.Weight, refutedBelow)
	}
	if e.tally.seen > 0 {
		mean := e.tally.gains / float64(e.tally.seen)
		s.Gain = &mean
	}
	return s
}

// All are the lessons, what speaks of the facts first, then those of the repository, then by
// weight. What is refuted is last in each.
func (b *Book) All(f Facts) []Standing {
	v := f.view()
	list := make([]Standing, 0, len(b.entries))
	for _, e := range b.entries {
		s := e.standing()
		s.Speaks = v.heard(e.lesson)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Standing) int {
		return cmp.Or(
			before(a.Speaks, b.Speaks), before(b.State == Refuted, a.State == Refuted), before(b.Starter, a.Starter),
			cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Name, b.Name),
		)
	})
	return list
}

// before puts what is first.
func before(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// Speaking are the lessons that speak of the facts and are not refuted, the most believed
// first.
func (b *Book) Speaking(f Facts) []Standing {
	v := f.view()
	var list []Standing
	for _, e := range b.entries {
		if !v.heard(e.lesson) {
			continue
		}
		if s := e.standing(); s.State != Refuted {
			s.Speaks = true
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), before(b.Starter, a.Starter), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// State is what a lesson is by now; empty for one that the book does not have.
func (b *Book) State(name string) State {
	if e := b.byName[name]; e != nil {
		return e.standing().State
	}
	return ""
}

// Find gives a lesson by its name, or by the beginning of it where no other begins so.
func (b *Book) Find(name string) (Standing, error) {
	if e := b.byName[name]; e != nil {
		return e.standing(), nil
	}
	var match []*entry
	var names []string
	for _, e := range b.entries {
		names = append(names, e.lesson.Name)
		if name != "" && strings.HasPrefix(e.lesson.Name, name) {
			match = append(match, e)
		}
	}
	switch {
	case len(match) == 1:
		return match[0].standing(), nil
	case len(match) > 1:
		return Standing{}, fmt.Errorf("lesson %.80q is one of %d: %s, %s, ...; write more of its name", name, len(match), match[0].lesson.Name, match[1].lesson.Name)
	}
	hint := "pawl lesson list shows what there is"
	if near := spell.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Standing{}, fmt.Errorf("there is no lesson %.80q: %s", name, hint)
}
