package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Session returns one session as a timeline. chain says why its journal is not as it was written; nil
// if it is.
func Session(s *journal.Session, chain error, now time.Time) Page {
	p := Page{Title: "Session " + s.ID}
	p.Lines = append(p.Lines, s.Began.Format("2006-01-02 15:04 MST")+", "+Spent(journal.Summarize(s, now)))
	if s.Ended != nil {
		p.Lines = append(p.Lines, "Outcome: "+Outcome(*s.Ended))
	}
	if chain != nil {
		p.Lines = append(p.Lines, "The journal is not as it was written: "+chain.Error())
	}
	t := Timeline(s)
	t.Title = "Timeline"
	p.add(t)
	return p
}

// Timeline returns the entries of a session as a table.
func Timeline(s *journal.Session) Section {
	sec := Section{Head: []string{"time", "by", "what", "result"}}
	for _, e := range s.Entries {
		what, lines := describe(e)
		m := int(max(0, e.Time.Sub(s.Began).Minutes()))
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
		sec.Rows = append(sec.Rows, []string{fmt.Sprintf("%d:%02d", m/60, m%60), Actor(e.Actor), what, strings.Join(lines, "; ")})
	}
	return sec
}

// describe returns what an entry says.
func describe(e journal.Entry) (what string, lines []string) {
	switch {
	case e.Started != nil:
		return "start", []string{e.Started.Goal, Subject(*e.Started)}
	case e.Did != nil:
		return commandLine(e.Did.Command, e.Did.Args), results(e.Did)
	case e.Refused != nil:
		return "stop: " + commandLine(e.Refused.Command, e.Refused.Args), []string{e.Refused.Gate + ": " + e.Refused.Why}
	case e.Noted != nil:
		lines = []string{e.Noted.Text}
		if e.Noted.Fix != "" {
			lines = append(lines, "tries fix "+e.Noted.Fix)
		}
		if e.Noted.Lesson != "" {
			lines = append(lines, "follows lesson "+e.Noted.Lesson)
		}
		return "note", lines
	case e.Overrode != nil:
		return "override of " + e.Overrode.Gate, []string{e.Overrode.Reason}
	case e.Ended != nil:
		lines = []string{Outcome(*e.Ended), e.Ended.Text}
		if e.Ended.Lesson != "" {
			lines = append(lines, "drafted lesson "+e.Ended.Lesson)
		}
		return "end", lines
	}
	return string(e.Kind), nil
}

func commandLine(command string, args []string) string {
	return strings.TrimSpace(command + " " + strings.Join(args, " "))
}

// Subject says what a session works on.
func Subject(s journal.Started) string {
	text := cmp.Or(s.Benchmark, "all benchmarks")
	if s.Reference != "" {
		text += " against " + s.Reference
	}
	if s.Device != "" {
		text += " on " + s.Device
	}
	if s.Target > 0 {
		text += fmt.Sprintf(", target %.2fx", s.Target)
	}
	if s.Planned > 0 {
		text += ", planned " + Minutes(s.Planned)
	}
	return text
}

// results describes the result of a command.
func results(d *journal.Did) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if len(d.Changes) > 0 {
		say("changed: %s", gates.Changed(d.Changes))
	}
	if e := d.Environment; e != nil && !e.OK {
		say("environment: %s", strings.Join(e.Problems, "; "))
	}
	if b := d.Built; b != nil && !b.OK {
		say("does not build (%s) %s: %s", b.Class, b.Where, b.Text)
	}
	if l := d.Limits; l != nil && !l.Fits {
		say("does not fit: %s", strings.Join(l.Problems, "; "))
	}
	if c := d.Checked; c != nil && c.Failed == 0 {
		say("correct at %s", words.Plural(c.Points, "point"))
	} else if c != nil {
		say("wrong at %d of %s, the smallest %s, off by %.3g", c.Failed, words.Plural(c.Points, "point"), c.FirstBad, c.Worst)
	}
	if d.Measured != nil {
		lines = append(lines, measured(d.Measured)...)
	}
	if p := d.Profiled; p != nil {
		var rules []string
		for _, f := range p.Findings[:min(3, len(p.Findings))] {
			rules = append(rules, f.Rule)
		}
		say("%s is limited by %s: %s", p.Case, p.Bottleneck, cmp.Or(strings.Join(rules, ", "), "no finding"))
	}
	if t := d.Tuned; t != nil && t.Speedup == 0 {
		say("%s tried, no gain proven", words.Plural(t.Evaluations, "point"))
	} else if t != nil {
		say("%s tried, %.2fx with %v", words.Plural(t.Evaluations, "point"), t.Speedup, strings.TrimPrefix(fmt.Sprint(t.Point), "map"))
	}
	if d.Exit != 0 && len(lines) == 0 || d.Exit >= 3 {
		line, _, _ := strings.Cut(d.Error, "\n")
		say("exit %d %s", d.Exit, line)
	}
	return lines
}

// measured describes the smallest and the largest config of a measurement.
func measured(m *journal.Measured) []string {
	var lines []string
	for i, c := range m.Cases {
		if i > 0 && i < len(m.Cases)-1 {
			continue
		}
		parts := []string{}
		if c.Candidate > 0 {
			parts = append(parts, words.Quantity(c.Candidate, "ns"))
		}
		if c.Reference > 0 && c.Candidate > 0 {
			parts = append(parts, fmt.Sprintf("%.2fx the speed of the reference", c.Reference/c.Candidate))
		}
		if c.Gain != nil {
			parts = append(parts, fmt.Sprintf("%.2fx the speed of the base", math.Exp(*c.Gain)))
		}
		lines = append(lines, strings.TrimSuffix(c.Case+": "+strings.Join(append(parts, c.Verdict), ", "), ", "))
	}
	return lines
}

// Outcome formats how a session ended.
func Outcome(e journal.Ended) string {
	text := cmp.Or(map[journal.Result]string{
		journal.Reached: "the target is reached", journal.Better: "faster than before", journal.Stopped: "stopped at a gate",
		journal.Lost: "lost", journal.Nothing: "nothing is faster",
	}[e.Outcome], string(e.Outcome))
	if e.Speedup > 0 {
		text += fmt.Sprintf(", %.2fx", e.Speedup)
	}
	return text
}

// Spent formats the time and money of a session, with its plan and budget.
func Spent(s journal.Summary) string {
	of := func(text string, most float64, format func(float64) string) string {
		if most > 0 {
			return text + " of " + format(most)
		}
		return text
	}
	b := journal.Budget{}
	if s.Budget != nil {
		b = *s.Budget
	}
	text := of(Minutes(s.Minutes), s.Planned, Minutes)
	if s.Device > 0 || b.Seconds > 0 {
		text += ", " + of(Seconds(s.Device), b.Seconds, Seconds) + " on the device"
	}
	if s.Dollars > 0 || b.Dollars > 0 {
		text += ", " + of(words.Dollars(s.Dollars), b.Dollars, words.Dollars)
	}
	return text
}

// Minutes formats a number of minutes.
func Minutes(m float64) string {
	d := time.Duration(m * float64(time.Minute)).Round(time.Minute)
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// Seconds formats a number of seconds.
func Seconds(s float64) string {
	if s < 120 {
		return fmt.Sprintf("%.1f s", s)
	}
	return Minutes(s / 60)
}

// Actor formats who ran a command.
func Actor(a journal.Actor) string {
	switch a.Kind {
	case journal.Agent:
		return strings.TrimSpace("agent " + a.Name)
	case journal.CI:
		return strings.TrimSpace("CI " + a.Name)
	case journal.Person:
		return cmp.Or(a.Name, "a person")
	}
	return "unknown " + a.Name
}
