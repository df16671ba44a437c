// Package gates knows how kernel work goes well: four phases, their gates in order, and what to
// do next. Five gates are stops: while their answer is no, they refuse commands inside a session.
// The others are advice, with the reason. An open question never stops anything, so no tool that
// is missing on a machine can block the work.
//
// The package is pure: it reads the entries of a journal. It must not know how facts are gathered,
// nor run anything. Its sentences hold numbers and names, never text of a compiler or a kernel.
package gates

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Gate is a question about the work.
type Gate struct {
	ID    string   `json:"id"`
	Phase string   `json:"phase"` // assess, build, baseline, optimize
	Title string   `json:"title"`
	Why   string   `json:"why"`             // what it cost to do without
	Stops []string `json:"stops,omitempty"` // commands refused while the answer is no; empty for advice

	lasts bool // an override holds for the session, not only until the next measurement
	ask   func(Facts) verdict
}

// Answer is the state of a gate.
type Answer string

// The answers.
const (
	Passed     Answer = "passed"
	Open       Answer = "open"       // not known yet
	Advice     Answer = "advice"     // no, and the gate only advises
	Stop       Answer = "stop"       // no, and the gate refuses commands
	Overridden Answer = "overridden" // no, and a person went on
	Idle       Answer = "idle"       // not asked now
)

// verdict is what a gate says of the facts.
type verdict struct {
	answer            Answer
	sentence, command string
}

func passed(format string, args ...any) verdict {
	return verdict{Passed, fmt.Sprintf(format, args...), ""}
}

func open(command, format string, args ...any) verdict {
	return verdict{Open, fmt.Sprintf(format, args...), command}
}

func no(command, format string, args ...any) verdict {
	return verdict{Advice, fmt.Sprintf(format, args...), command}
}

var idle = verdict{answer: Idle}

// Status is a gate with its answer.
type Status struct {
	Gate
	Answer   Answer `json:"answer"`
	Sentence string `json:"sentence,omitempty"` // the reason, or what to do, with the numbers
	Command  string `json:"command,omitempty"`  // to run for it now
	Reason   string `json:"reason,omitempty"`   // of the override; untrusted
	By       string `json:"by,omitempty"`       // who overrode it; untrusted
}

// All returns the gates in order.
func All() []Gate { return slices.Clone(gates) }

// Look returns the answer of each gate, in order. The entries say what was overridden.
func Look(f Facts, entries []journal.Entry) []Status {
	var all []Status
	for _, g := range gates {
		v := g.ask(f)
		st := Status{Gate: g, Answer: v.answer, Sentence: v.sentence, Command: v.command}
		if v.answer == Advice && len(g.Stops) > 0 {
			st.Answer = Stop
			if o, who := override(g, entries); o != nil {
				st.Answer, st.Command, st.Reason, st.By = Overridden, "", o.Reason, who
			}
		}
		all = append(all, st)
	}
	return all
}

// override returns the last one of a gate that still holds, and its author. Only people's count: a
// journal can have others, written by hand.
func override(g Gate, entries []journal.Entry) (*journal.Overrode, string) {
	for _, e := range slices.Backward(entries) {
		if !g.lasts && e.Did.Measures() {
			return nil, ""
		}
		if e.Overrode != nil && e.Overrode.Gate == g.ID && e.Actor.Kind == journal.Person {
			if e.Actor.Name == "" {
				return e.Overrode, "a person"
			}
			return e.Overrode, e.Actor.Name
		}
	}
	return nil, ""
}

// Step is the one thing to do now.
type Step struct {
	Phase   string `json:"phase"`
	Gate    string `json:"gate,omitempty"` // empty if all are passed
	Stop    bool   `json:"stop"`
	Do      string `json:"do"`
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}

// Next returns what to do first: a stop, or else the first gate in order that is not passed.
func Next(all []Status) Step {
	for _, answers := range [][]Answer{{Stop}, {Open, Advice}} {
		for _, st := range all {
			if slices.Contains(answers, st.Answer) {
				return Step{Phase: st.Phase, Gate: st.ID, Stop: st.Answer == Stop, Do: st.Sentence, Why: st.Why, Command: st.Command}
			}
		}
	}
	return Step{
		Phase: optimize, Do: "Every gate is passed: end the session, and keep what was learned.",
		Why: "What is not written down is found out again.", Command: "pawl session end --outcome reached",
	}
}

// Stopped returns the gate that refuses a command; nil for none.
func Stopped(all []Status, command string) *Status {
	for i := range all {
		if all[i].Answer == Stop && slices.Contains(all[i].Stops, command) {
			return &all[i]
		}
	}
	return nil
}

// Stoppable reports whether a gate can refuse the command.
func Stoppable(command string) bool {
	return slices.ContainsFunc(gates, func(g Gate) bool { return slices.Contains(g.Stops, command) })
}
