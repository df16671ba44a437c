package learn

import (
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/model"
	"github.com/goatnote-inc/pawl/stats"
)

// Headline is the story in one sentence.
func (s *Story) Headline() string {
	t := s.Totals
	if t.Sessions == 0 {
		return "There is no session yet: pawl session start begins one."
	}
	parts := []string{fmt.Sprintf("%s in %s", words.Plural(t.Sessions, "session"), minutesText(t.Minutes))}
	if t.Dollars > 0 {
		parts = append(parts, "for "+dollarsText(t.Dollars))
	}
	text := strings.Join(parts, " ") + ": " + words.Plural(t.Attempts, "attempt")
	if t.Attempts > 0 {
		text += fmt.Sprintf(", %d of them wrong optimisations", t.Wrong)
	}
	return text + fmt.Sprintf("; %s, %s.", words.Plural(t.Stops, "stop"), words.Plural(t.Overrides, "override"))
}

// Lines are what the story comes to, in sentences.
func (s *Story) Lines() []string {
	if s.Totals.Sessions == 0 {
		return nil
	}
	var list []string
	if line := s.wherefore(); line != "" {
		list = append(list, line)
	}
	if line := s.ungated(); line != "" {
		list = append(list, line)
	}
	for _, t := range s.Trends {
		if line := t.sentence(); line != "" {
			list = append(list, line)
		}
	}
	if f := s.Forecasts; f.Number > 0 {
		line := fmt.Sprintf("%.0f %% of %s held what came (80 %% should)", 100*f.Inside, words.Plural(f.Number, "forecast"))
		switch {
		case f.Later == f.Number:
			line += "; they were made afterwards, each from the sessions before it"
		case f.Later > 0:
			line += fmt.Sprintf("; %d were made afterwards, each from the sessions before it", f.Later)
		}
		list = append(list, line+".")
	}
	if n := len(s.Gains.Fixes); n > 0 {
		list = append(list, fmt.Sprintf("%.0f %% of %s of fixes lay in the interval expected of them (80 %% should); on average %s.",
			100*s.Gains.Inside, words.Plural(n, "gain"), s.Gains.biasText()))
	}
	return append(list, nextText(s.Next))
}

// wherefore says which phase took the most.
func (s *Story) wherefore() string {
	most, sum := "", 0.0
	for _, p := range Phases() {
		sum += s.Totals.Phases[p]
		if s.Totals.Phases[p] > s.Totals.Phases[most] {
			most = p
		}
	}
	if most == "" {
		return ""
	}
	what := map[string]string{
		phaseAssess: "to looking at host, limits and reference", phaseBuild: "to builds and to first results that are right",
		phaseBaseline: "to the first measurement", phaseOptimise: "to optimising", phaseLost: "with hosts that died",
	}[most]
	verb := "went"
	if most == phaseLost {
		verb = "were lost"
	}
	return fmt.Sprintf("Most of the time, %s (%.0f %%), %s %s.", minutesText(s.Totals.Phases[most]), 100*s.Totals.Phases[most]/sum, verb, what)
}

// ungated says what gates would have done to sessions that were held without them.
func (s *Story) ungated() string {
	var first, after []float64
	stops := 0
	for i := range s.Sessions {
		t := &s.Sessions[i]
		stops += t.Missed
		for _, m := range t.Marks {
			if m.Kind == MarkMissed {
				first, after = append(first, m.Minute), append(after, t.Minutes-m.Minute)
				break
			}
		}
	}
	if len(first) == 0 {
		return ""
	}
	return fmt.Sprintf("%s went past a gate unasked, %s in all: the first stop would have come after %s, %s before the end (medians).",
		words.Plural(len(first), "session"), words.Plural(stops, "stop"), minutesText(stats.Median(first)), minutesText(stats.Median(after)))
}

func (t Trend) sentence() string {
	if t.First == t.Last {
		return ""
	}
	how := func(v float64) string {
		switch t.Unit {
		case "min":
			return minutesText(v)
		case "x":
			return fmt.Sprintf("%.2fx", v)
		case "$":
			return dollarsText(v)
		default:
			return fmt.Sprintf("%.3g", v)
		}
	}
	name := strings.ToUpper(t.What[:1]) + t.What[1:]
	return fmt.Sprintf("%s: %s in the first %d, %s in the last %d (medians).", name, how(t.First), t.Number, how(t.Last), t.Number)
}

func (g Gains) biasText() string {
	switch {
	case math.Abs(g.Bias) < 0.005:
		return "as much came as was expected"
	case g.Bias < 0:
		return fmt.Sprintf("%.0f %% less came than was expected", -100*math.Expm1(g.Bias))
	default:
		return fmt.Sprintf("%.0f %% more came than was expected", 100*math.Expm1(g.Bias))
	}
}

func nextText(o model.Outlook) string {
	if o.Minutes.High <= 0 {
		return "There is no forecast yet."
	}
	text := fmt.Sprintf("The next session should take %s (%s to %s)", minutesText(o.Minutes.Value), minutesText(o.Minutes.Low), minutesText(o.Minutes.High))
	if o.Speedup.High > 0 {
		text += fmt.Sprintf(" and end %.2fx as fast as it begins (%.2fx to %.2fx)", o.Speedup.Value, o.Speedup.Low, o.Speedup.High)
	}
	return text + fmt.Sprintf(", by %s; four of five should lie inside.", words.Plural(o.Basis, "session"))
}

// column is one of the table of sessions.
type column struct {
	head  string
	right bool
	of    func(*Tale) string
}

// columns are what all forms of the report show of a session.
var columns = []column{
	{"began", false, func(t *Tale) string { return t.Began.UTC().Format("2006-01-02 15:04") }},
	{"took", true, func(t *Tale) string { return minutesText(t.Minutes) }},
	{"planned", true, func(t *Tale) string { return orNone(t.Planned, minutesText) }},
	{"cost", true, func(t *Tale) string { return orNone(t.Dollars, dollarsText) }},
	{"build", true, func(t *Tale) string { return pointed(t.Build) }},
	{"reference", true, func(t *Tale) string { return pointed(t.Reference) }},
	{"bottleneck", true, func(t *Tale) string { return pointed(t.Bottleneck) }},
	{"tried", true, func(t *Tale) string { return fmt.Sprint(len(t.Tries)) }},
	{"wrong", true, func(t *Tale) string { return fmt.Sprint(t.Wrong) }},
	{"stops", true, func(t *Tale) string { return fmt.Sprint(t.Stops) }},
	{"overrides", true, func(t *Tale) string { return fmt.Sprint(t.Overrides) }},
	{"speed-up", true, func(t *Tale) string { return or(t.SpeedText(), "-") }},
	{"outcome", false, func(t *Tale) string { return t.OutcomeText() }},
}

func or(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

func orNone(v float64, text func(float64) string) string {
	if v <= 0 {
		return "-"
	}
	return text(v)
}

func pointed(v *float64) string {
	if v == nil {
		return "-"
	}
	return minutesText(*v)
}
