package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// speedupOf returns how much faster the kernel is than its reference in the last measurement, as the
// geometric mean over the configs. Without a reference it compares with the first measurement. It is 0
// if unknown.
func speedupOf(s *journal.Session) float64 {
	var first, last *journal.Measured
	for _, e := range s.Entries {
		if e.Did.Measures() {
			if first == nil {
				first = e.Did.Measured
			}
			last = e.Did.Measured
		}
	}
	if last == nil {
		return 0
	}
	was := map[string]float64{}
	for _, c := range first.Cases {
		was[c.Case] = c.Candidate
	}
	var against, before []float64
	for _, c := range last.Cases {
		if c.Candidate <= 0 {
			continue
		}
		if c.Reference > 0 {
			against = append(against, math.Log(c.Reference/c.Candidate))
		}
		if w := was[c.Case]; w > 0 {
			before = append(before, math.Log(w/c.Candidate))
		}
	}
	list := against
	if s.Reference == "" || len(against) == 0 {
		list = before
	}
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return math.Exp(sum / float64(len(list)))
}

// outcomeOf derives the outcome of a session from its measurements.
func outcomeOf(s *journal.Session, speedup float64) journal.Result {
	wanted := cmp.Or(s.Target, 1.2)
	if speedup >= wanted {
		return journal.Reached
	}
	gain := 0.0
	for _, a := range journal.Attempts(s) {
		if a.Correct {
			gain += a.Gain
		}
	}
	if gain > math.Log(1.02) {
		return journal.Better
	}
	if n := len(s.Entries); n > 0 && s.Entries[n-1].Kind == journal.KindRefused {
		return journal.Stopped
	}
	return journal.Nothing
}

// forecastOf returns a forecast in the form of the journal.
func forecastOf(past []model.Past) *journal.Forecast {
	o := model.Forecast(past)
	return &journal.Forecast{Minutes: journal.Range(o.Minutes), Speedup: journal.Range(o.Speedup), Basis: o.Basis}
}

func outcomeText(e journal.Ended) string {
	results := map[journal.Result]string{
		journal.Reached: "the target is reached", journal.Better: "faster than before", journal.Stopped: "stopped at a gate",
		journal.Lost: "lost", journal.Nothing: "nothing is faster",
	}
	text := cmp.Or(results[e.Outcome], words.Sanitize(string(e.Outcome)))
	if e.Speedup > 0 {
		text += fmt.Sprintf(", %.2fx", e.Speedup)
	}
	return text
}

// spentText formats the time and money that a session took.
func spentText(s journal.Summary) string {
	text := minutesText(s.Minutes)
	if s.Device > 0 {
		text += ", " + secondsText(s.Device) + " on the device"
	}
	if s.Dollars > 0 {
		text += ", " + words.Dollars(s.Dollars)
	}
	return text
}

func minutesText(m float64) string {
	d := time.Duration(m * float64(time.Minute)).Round(time.Minute)
	if d < time.Minute {
		return "less than a minute"
	}
	if d < time.Hour {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

func secondsText(s float64) string {
	if s < 120 {
		return fmt.Sprintf("%.1f s", s)
	}
	return minutesText(s / 60)
}

// changeText formats a change for a reader.
func changeText(c journal.Change) string {
	name := words.Sanitize(c.Name)
	switch {
	case c.What == journal.Flag && c.Before == "":
		return "flag " + words.Sanitize(c.After) + " added"
	case c.What == journal.Flag && c.After == "":
		return "flag " + words.Sanitize(c.Before) + " gone"
	case c.Before != "" || c.After != "":
		return fmt.Sprintf("%s %s to %s", name, cmp.Or(words.Sanitize(c.Before), "(none)"), cmp.Or(words.Sanitize(c.After), "(none)"))
	default:
		return fmt.Sprintf("%s (+%d -%d)", name, c.Added, c.Gone)
	}
}

func changesText(list []journal.Change) string {
	var words []string
	for _, c := range list[:min(len(list), 4)] {
		words = append(words, changeText(c))
	}
	if more := len(list) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

func actorText(a journal.Actor) string {
	switch a.Kind {
	case journal.Person:
		return cmp.Or(words.Sanitize(a.Name), "a person")
	case journal.CI:
		return strings.TrimSpace("CI " + words.Sanitize(a.Name))
	default:
		return "agent " + cmp.Or(words.Sanitize(a.Name), "unknown")
	}
}

// describeEntry describes an entry: what was done, and the result in lines.
func describeEntry(e journal.Entry) (what string, lines []string) {
	switch {
	case e.Started != nil:
		return "start", startedLines(*e.Started)
	case e.Did != nil:
		return commandLine(e.Did.Command, e.Did.Args), commandResultLines(e.Did)
	case e.Refused != nil:
		return "stop: " + commandLine(e.Refused.Command, e.Refused.Args), []string{"gate " + e.Refused.Gate + ": " + e.Refused.Why, "instead: " + e.Refused.Instead}
	case e.Noted != nil:
		var lines []string
		for _, x := range []struct{ name, value string }{{"tries fix ", e.Noted.Fix}, {"follows lesson ", e.Noted.Lesson}} {
			if x.value != "" {
				lines = append(lines, x.name+x.value)
			}
		}
		return "note", append([]string{e.Noted.Text}, lines...)
	case e.Overrode != nil:
		return "override of " + e.Overrode.Gate, []string{"because: " + e.Overrode.Reason}
	case e.Ended != nil:
		lines := []string{outcomeText(*e.Ended), e.Ended.Text}
		if e.Ended.Lesson != "" {
			lines = append(lines, "lesson "+e.Ended.Lesson)
		}
		return "end", lines
	default:
		return string(e.Kind), nil
	}
}

func commandLine(command string, args []string) string {
	return strings.TrimSpace(command + " " + words.Sanitize(strings.Join(args, " ")))
}

func startedLines(s journal.Started) []string {
	lines := []string{s.Goal}
	about := cmp.Or(s.Benchmark, "all benchmarks")
	if s.Reference != "" {
		about += " against " + s.Reference
	}
	if s.Device != "" {
		about += " on " + s.Device
	}
	if s.Target > 0 {
		about += fmt.Sprintf(", target %.2fx", s.Target)
	}
	if s.Planned > 0 {
		about += ", planned " + minutesText(s.Planned)
	}
	return append(lines, about)
}

// commandResultLines describes the result of a command.
func commandResultLines(d *journal.Did) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if len(d.Changes) > 0 {
		say("changed: %s", changesText(d.Changes))
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
	if c := d.Checked; c != nil {
		if c.Failed == 0 {
			say("correct at %s", words.Plural(c.Points, "point"))
		} else {
			say("wrong at %d of %s, the smallest %s, off by %.3g", c.Failed, words.Plural(c.Points, "point"), c.FirstBad, c.Worst)
		}
	}
	if m := d.Measured; m != nil {
		lines = append(lines, measuredLines(m)...)
	}
	if p := d.Profiled; p != nil {
		var rules []string
		for _, f := range p.Findings[:min(3, len(p.Findings))] {
			rules = append(rules, f.Rule)
		}
		say("%s is %s bound: %s", p.Case, p.Bottleneck, cmp.Or(strings.Join(rules, ", "), "no finding"))
	}
	if t := d.Tuned; t != nil {
		say("%s tried, %s", words.Plural(t.Evaluations, "point"), tunedText(t))
	}
	if d.Exit != command.ExitOK && len(lines) == 0 || d.Exit >= command.ExitCannot {
		say("exit %d %s", d.Exit, firstLines(d.Error, 1))
	}
	return lines
}

func tunedText(t *journal.Tuned) string {
	if t.Speedup == 0 {
		return "no gain proven"
	}
	var point []string
	for k, v := range t.Point {
		point = append(point, k+"="+v)
	}
	slices.Sort(point)
	return fmt.Sprintf("%.2fx with %s", t.Speedup, strings.Join(point, " "))
}

// measuredLines describes the smallest and the largest config of a measurement.
func measuredLines(m *journal.Measured) []string {
	var lines []string
	for i, c := range m.Cases {
		if i > 0 && i < len(m.Cases)-1 {
			continue
		}
		text := c.Case + ":"
		if c.Candidate > 0 {
			text += " " + words.Quantity(c.Candidate, "ns")
		}
		if c.Reference > 0 && c.Candidate > 0 {
			text += fmt.Sprintf(", %.2fx the speed of the reference", c.Reference/c.Candidate)
		}
		if c.Gain != nil {
			text += fmt.Sprintf(", %.2fx the speed of the base", math.Exp(*c.Gain))
		}
		if c.Verdict != "" {
			text += ", " + c.Verdict
		}
		lines = append(lines, text)
	}
	return lines
}
