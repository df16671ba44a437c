package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// event is one entry of a journal in words.
type event struct {
	Clock, Stamp, After string // when, and how long after the beginning
	Who                 string
	Program             bool
	Word, Class         string // what kind of thing it is
	Run                 string // the command, where it is one
	Title               string
	Facts               []string // what pawl recorded
	Said                string   // what somebody wrote: text, nothing else
}

// timeline tells a session, the oldest first.
func timeline(s *journal.Session) []event {
	list := make([]event, 0, len(s.Entries))
	for _, e := range s.Entries {
		v := told(e)
		v.Clock, v.Stamp = clock(e.Time), stamp(e.Time)
		v.After = "+" + minutes(max(0, e.Time.Sub(s.Began).Minutes()))
		v.Who, v.Program = actor(e.Actor), e.Actor.Kind != journal.Person
		list = append(list, v)
	}
	return list
}

func told(e journal.Entry) event {
	switch {
	case e.Started != nil:
		return toldStarted(*e.Started)
	case e.Did != nil:
		return toldDid(*e.Did)
	case e.Refused != nil:
		r := *e.Refused
		v := event{Word: "refused", Class: "fail", Run: commandLine(r.Command, r.Args), Title: "gate " + words.Sanitize(r.Gate) + ": " + words.Sanitize(r.Why), Facts: changes(r.Changes)}
		if r.Instead != "" {
			v.Facts = append(v.Facts, "instead: "+words.Sanitize(r.Instead))
		}
		return v
	case e.Noted != nil:
		v := event{Word: "note", Class: "same", Said: words.Sanitize(e.Noted.Text)}
		if e.Noted.Fix != "" {
			v.Facts = append(v.Facts, "tries fix "+words.Sanitize(e.Noted.Fix))
		}
		if e.Noted.Lesson != "" {
			v.Facts = append(v.Facts, "follows lesson "+words.Sanitize(e.Noted.Lesson))
		}
		return v
	case e.Overrode != nil:
		return event{Word: "override", Class: "over", Title: "went past the gate " + words.Sanitize(e.Overrode.Gate), Said: words.Sanitize(e.Overrode.Reason)}
	case e.Ended != nil:
		v := event{Word: "ended", Class: outcomeClass(e.Ended.Outcome), Title: words.Sanitize(string(e.Ended.Outcome)), Said: words.Sanitize(e.Ended.Text)}
		if e.Ended.Speedup > 0 {
			v.Facts = append(v.Facts, fmt.Sprintf("speed-up at the end: %.2fx", e.Ended.Speedup))
		}
		return v
	default:
		return event{Word: words.Sanitize(string(e.Kind)), Class: "same"}
	}
}

func toldStarted(s journal.Started) event {
	v := event{Word: "began", Class: "same", Said: words.Sanitize(s.Goal)}
	if s.Benchmark != "" {
		v.Facts = append(v.Facts, "benchmark "+words.Sanitize(s.Benchmark))
	}
	if s.Device != "" {
		v.Facts = append(v.Facts, "on "+words.Sanitize(s.Device))
	}
	if s.Target > 0 {
		v.Facts = append(v.Facts, fmt.Sprintf("target %.2fx", s.Target))
	}
	return v
}

// commandLine is a command as it was typed, for reading and not for running.
func commandLine(command string, args []string) string {
	return words.Sanitize("pawl " + strings.Join(append([]string{command}, args...), " "))
}

func toldDid(d journal.Did) event {
	v := event{Word: "ran", Class: "pass", Run: commandLine(d.Command, d.Args)}
	if d.Exit != 0 {
		v.Word, v.Class = fmt.Sprintf("exit %d", d.Exit), "fail"
		if d.Exit == 2 { // no answer
			v.Class = "no-answer"
		}
	}
	v.Facts = append(v.Facts, didFacts(d)...)
	if d.Error != "" {
		v.Said = words.Sanitize(d.Error)
	}
	if d.Seconds >= 1 {
		took := "took " + words.Duration(time.Duration(finite(d.Seconds)*float64(time.Second)))
		if d.Dollars > 0 {
			took += ", " + words.Dollars(d.Dollars)
		}
		v.Facts = append(v.Facts, took)
	}
	return v
}

// didFacts are what pawl itself found out by a command.
func didFacts(d journal.Did) []string {
	list := changes(d.Changes)
	if e := d.Environment; e != nil {
		if e.OK {
			list = append(list, "the environment is complete")
		}
		for _, p := range some(e.Problems) {
			list = append(list, "environment: "+words.Sanitize(p))
		}
	}
	if b := d.Built; b != nil {
		if b.OK {
			list = append(list, "it builds")
		} else {
			list = append(list, words.Sanitize(strings.TrimSpace("the build is broken: "+b.Class+" "+b.Where)))
		}
	}
	if l := d.Limits; l != nil {
		list = append(list, limitFacts(*l)...)
	}
	if c := d.Checked; c != nil {
		list = append(list, checkFact(*c))
	}
	if m := d.Measured; m != nil {
		list = append(list, measuredFact(*m))
	}
	if p := d.Profiled; p != nil {
		list = append(list, words.Sanitize(fmt.Sprintf("%s profiled with %s: %s", p.Case, p.Tool, p.Bottleneck)))
	}
	if t := d.Tuned; t != nil {
		text := fmt.Sprintf("%s tuned, %d points tried", t.Case, t.Evaluations)
		if t.Speedup > 0 {
			text += fmt.Sprintf(", %.2fx proved", t.Speedup)
		}
		list = append(list, words.Sanitize(text))
	}
	return list
}

func limitFacts(l journal.Limits) []string {
	var list []string
	switch {
	case l.SharedMemory > 0 && l.SharedLimit > 0:
		list = append(list, fmt.Sprintf("shared memory: %.1f of %.0f KB", l.SharedMemory/1024, l.SharedLimit/1024))
	case l.Fits:
		list = append(list, "it fits the device")
	}
	for _, p := range some(l.Problems) {
		list = append(list, "limits: "+words.Sanitize(p))
	}
	return list
}

func checkFact(c journal.Checked) string {
	text := fmt.Sprintf("%d of %d points right", c.Points-c.Failed, c.Points)
	if c.NotFinite {
		text += ", NaN or infinity among the results"
	}
	if c.Failed > 0 && c.Worst > 0 {
		text += fmt.Sprintf(", largest difference %.3g", c.Worst)
	}
	if c.FirstBad != "" {
		text += ", smallest wrong config " + c.FirstBad
	}
	return words.Sanitize(text)
}

// changes are the variables that differ from the last measurement.
func changes(list []journal.Change) []string {
	if len(list) == 0 {
		return nil
	}
	const shown = 4
	var texts []string
	for i, c := range list {
		if i == shown {
			texts = append(texts, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		text := string(c.What) + " " + c.Name
		if c.Before != "" || c.After != "" {
			text += " " + c.Before + " to " + c.After
		}
		texts = append(texts, words.Sanitize(text))
	}
	return []string{"changed: " + strings.Join(texts, "; ")}
}

// some are the first of many.
func some(list []string) []string { return list[:min(len(list), 3)] }
