package page

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// State is the state of the work.
type State struct {
	Session *journal.Session // nil if none is open
	Chain   error            // why its journal is not as it was written; nil if it is
	Status  []gates.Status   // of the session; nil without one
	Next    gates.Step
	Now     time.Time
}

// Rules returns the rules of the method, in the order in which they save time, each with its gate.
func Rules() [][2]string {
	return [][2]string{
		{"Check the environment first, before any other work.", "environment"},
		{"A claim is a claim until it was measured here.", "reference"},
		{"Design for this device; know its limits first.", "limits"},
		{"Broken for 30 minutes: find the last good commit.", "builds"},
		{"Smallest config first; right comes before fast.", "correct"},
		{"Below 0.5x of the reference: stop and profile.", "smallest-speed"},
		{"Profile first; fix what it shows, not a suspicion.", "profile-first"},
		{"One variable at a time, measured after each.", "one-variable"},
		{"Right again after every change.", "correct"},
		{"20 % or more: go on. Three times less: another idea.", "attempts"},
		{"Never change what it is measured with for a number.", "definition"},
		{"Check the host before long work; never go silent.", "host"},
	}
}

// Commands returns the commands of the guide, in the order of the work.
func Commands() [][]string {
	return [][]string{
		{"pawl session start", "start; everything is recorded"},
		{"pawl session next", "the one thing to do now, and why"},
		{"pawl doctor", "driver, toolkit and ABI, first"},
		{"pawl device show", "limits of the device"},
		{"pawl preflight", "shared memory before compiling"},
		{"pawl build", "build the candidate"},
		{"pawl fuzz", "is it right? smallest first"},
		{"pawl bench", "how fast, side by side with the reference"},
		{"pawl profile CASE", "where the time goes"},
		{"pawl diagnose FILE", "what the profile means, and fixes"},
		{"pawl session next --fixes", "which fix to try first"},
		{"pawl lesson list", "what was learned before"},
		{"pawl tune CASE", "search parameters, with a proof"},
		{"pawl run", "the whole loop with a verdict"},
		{"pawl session note TEXT", "record what you try"},
		{"pawl session end", "keep the journal, draft a lesson"},
	}
}

// Guide returns everything to know at work on one page.
func Guide(s State) Page {
	p := Page{Title: "How kernel work goes well", Lines: s.lines()}
	if s.Session != nil && s.Session.Goal != "" {
		p.Title = s.Session.Goal
	}
	gate := Section{Title: "Gates", Head: []string{"phase", "gate", "what it asks", "if not"}}
	answers := s.answers()
	for _, g := range gates.All() {
		kind := "advice"
		if len(g.Stops) > 0 {
			kind = "stop"
		}
		if st, ok := answers[g.ID]; ok {
			kind = string(st.Answer)
		}
		gate.Rows = append(gate.Rows, []string{g.Phase, g.ID, g.Title, kind})
	}
	rules := Section{Title: "Rules", Head: []string{"rule", "gate"}}
	for _, r := range Rules() {
		rules.Rows = append(rules.Rows, r[:])
	}
	p.add(gate)
	p.add(rules)
	p.add(Section{Title: "Commands", Head: []string{"command", "what it does"}, Rows: Commands()})
	return p
}

// Gates returns the gates with their answers.
func Gates(s State) Page {
	p := Page{Title: "Gates", Lines: s.lines()}
	marks := map[gates.Answer]string{gates.Passed: "[x]", gates.Overridden: "[x]", gates.Stop: "[!]", gates.Advice: "[?]"}
	answers := s.answers()
	for _, phase := range journal.Phases {
		sec := Section{Title: strings.ToUpper(phase[:1]) + phase[1:], Head: []string{"", "gate", "answer", "reason"}}
		for _, g := range gates.All() {
			if g.Phase != phase {
				continue
			}
			st, asked := answers[g.ID]
			mark, reason := cmp.Or(marks[st.Answer], "[ ]"), st.Sentence
			if !asked || st.Answer == gates.Idle {
				reason = g.Title
			}
			if st.By != "" {
				reason += fmt.Sprintf(" Overridden by %s: %s", st.By, st.Reason)
			}
			sec.Rows = append(sec.Rows, []string{mark, g.ID, string(st.Answer), reason})
		}
		p.add(sec)
	}
	return p
}

// Checklist returns the gates with their answers, and what happened last.
func Checklist(s State) Page {
	p := Gates(s)
	p.Title = "Checklist"
	if s.Session != nil {
		const shown = 20
		last := Timeline(s.Session)
		last.Title, last.Rows = "Last entries", last.Rows[max(0, len(last.Rows)-shown):]
		p.add(last)
	}
	return p
}

func (s State) answers() map[string]gates.Status {
	answers := map[string]gates.Status{}
	for _, st := range s.Status {
		answers[st.ID] = st
	}
	return answers
}

// lines returns what to do now, and what the session has spent.
func (s State) lines() []string {
	word := "Now: "
	if s.Next.Stop {
		word = "Stop at " + s.Next.Gate + ": "
	}
	lines := []string{word + s.Next.Do, s.Next.Why}
	if s.Next.Command != "" {
		lines = append(lines, "Run: "+s.Next.Command)
	}
	if s.Session != nil {
		lines = append(lines, "Session "+s.Session.ID+": "+Spent(journal.Summarize(s.Session, s.Now)))
	}
	if s.Chain != nil {
		lines = append(lines, "The journal is not as it was written: "+s.Chain.Error())
	}
	return lines
}
