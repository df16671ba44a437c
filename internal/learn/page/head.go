package page

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// headView is a session in a few words and numbers.
type headView struct {
	ID, Goal, Benchmark, Suite, Device, Target string
	Began, Stamp, Who                          string
	Outcome, OutcomeClass                      string // empty while it goes on
	Programs                                   bool   // an agent or CI took part
	Spent                                      spent
	Meters                                     []meter
	Chain                                      string // what is wrong with the journal; empty where nothing is
	Entries                                    int
}

// spent is what a session took so far, as its journal says.
type spent struct {
	Minutes, Device, Dollars    float64
	Commands, Refused, Overrode int
	Measured                    int
	Claims                      int
}

// Words are the counts in one line.
func (s spent) Words() string {
	return fmt.Sprintf("%s, %s, %d refused, %s", words.Plural(s.Commands, "command"), words.Plural(s.Measured, "measurement"), s.Refused, words.Plural(s.Overrode, "override"))
}

// meter is something that is spent against what may be.
type meter struct {
	Name, Text  string
	Value, Most float64 // Most is 0 where there is no limit
	Over        bool
}

func newHead(s *journal.Session, chain error, now time.Time) headView {
	v := headView{
		ID: words.Sanitize(s.ID), Goal: words.Sanitize(s.Goal), Benchmark: words.Sanitize(s.Benchmark), Suite: words.Sanitize(s.Suite),
		Device: words.Sanitize(strings.Join(slices.DeleteFunc([]string{s.Device, s.GPU}, func(t string) bool { return t == "" }), ", ")),
		Began:  day(s.Began), Stamp: stamp(s.Began), Spent: spending(s, now), Entries: len(s.Entries),
	}
	if s.Target > 0 {
		v.Target = fmt.Sprintf("%.2fx", s.Target)
	}
	v.Who, v.Programs = takers(s)
	if s.Ended != nil {
		v.Outcome, v.OutcomeClass = words.Sanitize(string(s.Ended.Outcome)), outcomeClass(s.Ended.Outcome)
	}
	if chain != nil {
		v.Chain = brokenWords(chain)
	}
	v.Meters = meters(s, v.Spent)
	return v
}

// brokenWords says where a journal is not as it was written.
func brokenWords(err error) string {
	if broken, ok := errors.AsType[*journal.BrokenError](err); ok && broken.Line > 0 {
		return words.Sanitize(fmt.Sprintf("line %d: %s", broken.Line, broken.Why))
	}
	return words.Sanitize(err.Error())
}

func outcomeClass(r journal.Result) string {
	switch r {
	case journal.Reached, journal.Better:
		return "pass"
	case journal.Stopped, journal.Lost:
		return "fail"
	default:
		return "no-answer"
	}
}

// spending adds up a session. While it goes on its minutes are those until now, at its end
// those until its last entry.
func spending(s *journal.Session, now time.Time) spent {
	var sum spent
	last := s.Began
	for _, e := range s.Entries {
		last = later(last, e.Time)
		switch {
		case e.Did != nil:
			sum.Commands++
			sum.Device += finite(e.Did.Device)
			sum.Dollars += finite(e.Did.Dollars)
			if e.Did.Measured != nil {
				sum.Measured++
			}
		case e.Refused != nil:
			sum.Refused++
		case e.Overrode != nil:
			sum.Overrode++
		case e.Noted != nil:
			sum.Claims++
		}
	}
	if s.Ended == nil {
		last = later(last, now)
	}
	sum.Minutes = last.Sub(s.Began).Minutes()
	return sum
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// finite keeps a sum from becoming no number by what somebody wrote.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v > 1e12 {
		return 0
	}
	return v
}

func meters(s *journal.Session, sum spent) []meter {
	budget := journal.Budget{}
	if s.Budget != nil {
		budget = *s.Budget
	}
	list := []meter{
		newMeter("time", sum.Minutes, s.Planned, minutes),
		newMeter("on the device", sum.Device, budget.Seconds, seconds),
		newMeter("cost", sum.Dollars, budget.Dollars, dollars),
	}
	return list
}

func dollars(v float64) string {
	if v == 0 {
		return "$0"
	}
	return fmt.Sprintf("$%.2f", v)
}

func newMeter(name string, value, most float64, words func(float64) string) meter {
	most = finite(most)
	m := meter{Name: name, Text: words(value), Value: value, Most: most, Over: most > 0 && value > most}
	if most > 0 {
		m.Text += " of " + words(most)
	}
	return m
}

// takers are who took part, and whether a program did.
func takers(s *journal.Session) (string, bool) {
	var names []string
	program := false
	for _, e := range s.Entries {
		program = program || e.Actor.Kind != journal.Person
		if name := actor(e.Actor); !slices.Contains(names, name) && len(names) < 6 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", "), program
}

// actor is who did something. That it was an agent is always said.
func actor(a journal.Actor) string {
	name := words.Sanitize(a.Name)
	switch a.Kind {
	case journal.Person:
		if name == "" {
			return "a person"
		}
		return name
	case journal.CI:
		return strings.TrimSpace("CI " + name)
	case journal.Agent:
		return strings.TrimSpace("agent " + name)
	default:
		return strings.TrimSpace("unknown " + name)
	}
}
