package page

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/stats"
)

// Report returns all sessions: the five measures of each, how they changed, and what had been forecast.
func Report(all []journal.Summary) Page {
	p := Page{Title: "Sessions"}
	if len(all) == 0 {
		p.Lines = []string{"There is no session yet: run `pawl session start`."}
		return p
	}
	p.Lines = []string{total(all), phases(all)}
	table := Section{
		Title: "The five measures", Head: []string{"session", "took", "to a build", "to the bottleneck", "attempts", "wrong", "speedup", "cost", "outcome"},
		Right: []bool{false, true, true, true, true, true, true, true, false},
	}
	wrong := Section{Title: "Wrong optimizations", Head: []string{"session", "run", "what was wrong", "note"}}
	for _, s := range all {
		outcome := "open"
		switch {
		case s.Broken != "":
			outcome = "cannot be read: " + s.Broken
		case s.Ended != nil:
			outcome = Outcome(journal.Ended{Outcome: s.Ended.Outcome})
		}
		table.Rows = append(table.Rows, []string{
			s.ID, Minutes(s.Minutes), pointed(s.Build), pointed(s.Bottleneck), fmt.Sprint(len(s.Attempts)), fmt.Sprint(s.Wrong),
			positive(s.Speedup, "%.2fx"), positive(s.Dollars, "$%.2f"), outcome,
		})
		for _, a := range s.Attempts {
			if len(a.Wrong) > 0 {
				wrong.Rows = append(wrong.Rows, []string{s.ID, a.Run, fmt.Sprint(words.Plural(len(a.Changes), "change"), ": ", strings.Join(a.Wrong, ", ")), a.Note})
			}
		}
	}
	p.add(table)
	p.add(trends(all))
	p.add(forecasts(all))
	if len(wrong.Rows) > 0 {
		p.add(wrong)
	}
	return p
}

func total(all []journal.Summary) string {
	var minutes, dollars float64
	attempts, wrong, stops, overrides := 0, 0, 0, 0
	for _, s := range all {
		minutes += s.Minutes
		dollars += s.Dollars
		attempts += len(s.Attempts)
		wrong += s.Wrong
		stops += s.Refused
		overrides += s.Overrode
	}
	text := fmt.Sprintf("%s in %s", words.Plural(len(all), "session"), Minutes(minutes))
	if dollars > 0 {
		text += fmt.Sprintf(" for $%.2f", dollars)
	}
	return text + fmt.Sprintf(": %s, %d of them wrong optimizations; %s, %s.", words.Plural(attempts, "attempt"), wrong, words.Plural(stops, "stop"), words.Plural(overrides, "override"))
}

// phases says where the time went.
func phases(all []journal.Summary) string {
	var parts []string
	for _, phase := range journal.Phases {
		sum := 0.0
		for _, s := range all {
			sum += s.Phases[phase]
		}
		parts = append(parts, fmt.Sprintf("%s %.0f", phase, sum))
	}
	return "Minutes by phase: " + strings.Join(parts, ", ") + "."
}

// trends compares the first sessions with the last: medians of a third at each end.
func trends(all []journal.Summary) Section {
	sec := Section{Title: "From the first sessions to the last", Head: []string{"measure", "first", "last", "sessions at each end"}, Right: []bool{false, true, true, true}}
	for _, m := range []struct {
		name, format string
		of           func(journal.Summary) (float64, bool)
	}{
		{"minutes", "%.0f", func(s journal.Summary) (float64, bool) { return s.Minutes, !s.Open }},
		{"minutes to a working build", "%.0f", func(s journal.Summary) (float64, bool) { return value(s.Build) }},
		{"minutes to the bottleneck", "%.0f", func(s journal.Summary) (float64, bool) { return value(s.Bottleneck) }},
		{"wrong optimizations", "%.3g", func(s journal.Summary) (float64, bool) { return float64(s.Wrong), !s.Open }},
		{"speedup at the end", "%.2fx", func(s journal.Summary) (float64, bool) { return s.Speedup, s.Speedup > 0 }},
		{"cost", "$%.2f", func(s journal.Summary) (float64, bool) { return s.Dollars, s.Dollars > 0 }},
	} {
		var list []float64
		for _, s := range all {
			if v, ok := m.of(s); ok && s.Broken == "" {
				list = append(list, v)
			}
		}
		if n := len(list) / 3; n >= 2 {
			sec.Rows = append(sec.Rows, []string{m.name, fmt.Sprintf(m.format, stats.Median(list[:n])), fmt.Sprintf(m.format, stats.Median(list[len(list)-n:])), fmt.Sprint(n)})
		}
	}
	if len(sec.Rows) == 0 {
		sec.Lines = []string{"No basis yet: a comparison needs six sessions."}
	}
	return sec
}

// forecasts compares what was forecast at the start of each session with what happened, and says what to
// expect of the next.
func forecasts(all []journal.Summary) Section {
	sec := Section{Title: "Forecasts", Head: []string{"session", "minutes forecast", "took", "speedup forecast", "gained", "inside"}}
	inside, checked := 0, 0
	for _, s := range all {
		f := s.Forecast
		if f == nil || s.Ended == nil {
			continue
		}
		ok := f.Minutes.Holds(s.Minutes) && (s.Gained == 0 || f.Speedup.High == 0 || f.Speedup.Holds(s.Gained))
		checked++
		word := "no"
		if ok {
			inside++
			word = "yes"
		}
		sec.Rows = append(sec.Rows, []string{s.ID, ranged(f.Minutes, "%.0f"), fmt.Sprintf("%.0f", s.Minutes), ranged(f.Speedup, "%.2fx"), positive(s.Gained, "%.2fx"), word})
	}
	if checked > 0 {
		sec.Lines = append(sec.Lines, fmt.Sprintf("%d of %s were inside the range of the sessions before.", inside, words.Plural(checked, "session")))
	}
	sec.Lines = append(sec.Lines, "Next session: "+Forecast(journal.NewForecast(all))+".")
	return sec
}

// Forecast formats a forecast.
func Forecast(f *journal.Forecast) string {
	if f == nil {
		return "no basis: no session has ended yet"
	}
	text := fmt.Sprintf("%s (%s to %s)", Minutes(f.Minutes.Value), Minutes(f.Minutes.Low), Minutes(f.Minutes.High))
	if f.Speedup.High > 0 {
		text += fmt.Sprintf(", %.2fx as fast as at its start (%.2fx to %.2fx)", f.Speedup.Value, f.Speedup.Low, f.Speedup.High)
	}
	return text + ", the median and range of " + words.Plural(f.Basis, "session")
}

func ranged(r journal.Range, format string) string {
	if r.High == 0 {
		return "no basis"
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", r.Value, r.Low, r.High)
}

func value(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

func pointed(v *float64) string {
	if v == nil {
		return "-"
	}
	return Minutes(*v)
}

func positive(v float64, format string) string {
	if v <= 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
