package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// alternatives finds the points nearly as fast as the suggested one, by their times in the
// search.
func (s *Suggestions) alternatives() {
	ranked := Ranked(s.Evaluations)
	if len(ranked) == 0 {
		return
	}
	reference := ranked[0]
	own := s.point
	if own == nil {
		own = s.Default.Point
	}
	var near []Evaluation
	for _, e := range ranked {
		if e.Lost || e.Value > reference.Value*(1+nearOptimal) {
			break
		}
		near = append(near, e)
		if Key(e.Point) == Key(own) || len(s.Alternatives) == mostAlternatives {
			continue
		}
		s.Alternatives = append(s.Alternatives, Alternative{e.N, e.Point, e.Value, e.Value/reference.Value - 1, s.differs(e.Point, own)})
	}
	if len(near) >= 3 {
		s.Common = s.common(near)
	}
}

// differs lists how a point differs from another.
func (s *Suggestions) differs(point, own map[string]any) string {
	var list []string
	for _, p := range s.Header.Space.Parameters {
		if a, b := point[p.Name], own[p.Name]; !space.Same(a, b) {
			list = append(list, fmt.Sprintf("%s %s instead of %s", p.Name, valueText(a), valueText(b)))
		}
	}
	return words.Sanitize(strings.Join(list, ", "))
}

// common says what near-optimal points share, and which parameters vary.
func (s *Suggestions) common(near []Evaluation) string {
	var shared, free []string
	for _, p := range s.Header.Space.Parameters {
		values := map[string]bool{}
		for _, e := range near {
			values[valueText(e.Point[p.Name])] = true
		}
		switch {
		case len(p.Values) < 2:
		case len(values) == 1:
			shared = append(shared, p.Name+" "+valueText(near[0].Point[p.Name]))
		case len(values) == len(p.Values):
			free = append(free, p.Name)
		}
	}
	text := fmt.Sprintf("%d points are within %.0f %% of the best.", len(near), 100*nearOptimal)
	if len(shared) > 0 {
		text += " All of them have " + strings.Join(shared, ", ") + "."
	}
	if len(free) > 0 {
		text += " Among them is every value of " + strings.Join(free, ", ") + "."
	}
	return words.Sanitize(text)
}

// negligibleShare is the share below which a parameter can keep its default.
const negligibleShare = 0.02

// of says in a word or two how much a parameter matters.
func (m Importance) of(name string) string {
	for _, e := range m.Effects {
		switch {
		case e.Name != name:
		case e.Total < negligibleShare:
			return "hardly any"
		default:
			return share(e.Total)
		}
	}
	return ""
}

// words describes the importance in sentences.
func (m Importance) words() []string {
	if m.Unknown != "" {
		return []string{"Not known: " + words.Sanitize(m.Unknown) + "."}
	}
	var list []string
	little := []string{}
	for _, e := range m.Effects {
		name := words.Sanitize(e.Name)
		if e.Total < negligibleShare {
			little = append(little, name)
			continue
		}
		text := fmt.Sprintf("%s explains %s of the differences in time by itself (%s to %s)", name, share(e.Share), share(e.Low), share(e.High))
		if e.Total-e.Share >= 0.01 {
			text += fmt.Sprintf(" and %s together with others", share(e.Total-e.Share))
		}
		if e.Spread > 1.02 && e.Share >= 0.02 {
			text += fmt.Sprintf("; on average %s is the fastest value, and %s is %s", words.Sanitize(valueText(e.Best)), words.Sanitize(valueText(e.Worst)), words.Change(e.Spread))
		}
		list = append(list, text+".")
	}
	for i, p := range m.Pairs {
		if i == 3 {
			break
		}
		list = append(list, fmt.Sprintf("%s and %s depend on each other: which value of one is best changes with the other (%s, %s to %s).",
			words.Sanitize(p.A), words.Sanitize(p.B), share(p.Share), share(p.Low), share(p.High)))
	}
	if len(little) > 0 {
		list = append(list, "Negligible: "+words.Sanitize(strings.Join(little, ", "))+".")
	}
	return list
}

func share(x float64) string {
	if x > 0 && x < 0.005 {
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// unexplored lists what the search did not try.
func (s *Suggestions) unexplored() []string {
	n, points := len(s.Evaluations), s.Header.Space.Points
	var list []string
	switch {
	case points == 0:
		list = append(list, fmt.Sprintf("%d points were tried; the total number is not known.", n))
	case n >= points && s.Complete:
		list = append(list, fmt.Sprintf("Nothing: all %d points were tried.", points))
	case s.Complete:
		list = append(list, fmt.Sprintf("%d of %d points were tried, %s.", n, points, share(float64(n)/float64(points))))
	default:
		list = append(list, fmt.Sprintf("%d points were tried. The space is too large to list: the search chose from %d points drawn from it.", n, points))
	}
	for _, p := range s.Header.Space.Parameters {
		var never []string
		for _, v := range p.Values {
			if !slices.ContainsFunc(s.Evaluations, func(e Evaluation) bool { return space.Same(e.Point[p.Name], v) }) {
				never = append(never, valueText(v))
			}
		}
		if len(never) > 0 && n > 0 {
			list = append(list, words.Sanitize(fmt.Sprintf("Never tried: %s %s.", p.Name, strings.Join(never, ", "))))
		}
	}
	return append(list, s.edges()...)
}

// edges lists values of the suggested point that are at the end of the suite's range.
func (s *Suggestions) edges() []string {
	var list []string
	for _, p := range s.Header.Space.Parameters {
		x, isNumber := space.Number(s.point[p.Name])
		if !isNumber || len(p.Values) < 3 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range p.Values {
			if y, ok := space.Number(v); ok {
				low, high = min(low, y), max(high, y)
			}
		}
		switch {
		case x == high:
			list = append(list, words.Sanitize(fmt.Sprintf("%s %s is the largest value in the space: a larger one may be even faster.", p.Name, valueText(x))))
		case x == low && x > 1: // below 1 most parameters are meaningless
			list = append(list, words.Sanitize(fmt.Sprintf("%s %s is the smallest value in the space: a smaller one may be even faster.", p.Name, valueText(x))))
		}
	}
	return list
}

// cost describes what the search cost.
func (s *Suggestions) cost() []string {
	var build, check, measured float64
	for _, e := range s.Evaluations {
		build, check, measured = build+e.Build, check+e.Check, measured+e.Measure
	}
	total := s.Seconds
	text := fmt.Sprintf("The search took %s for %d evaluations", span(s.Seconds), len(s.Evaluations)-s.Resumed)
	if s.Resumed > 0 {
		text += fmt.Sprintf(", and continued from %d of an earlier search", s.Resumed)
	}
	list := []string{fmt.Sprintf("%s. Of all evaluations, building took %s, checking %s and measuring %s; builds run while others are measured.", text, span(build), span(check), span(measured))}
	if s.Proof != nil && s.Proof.Rounds > 0 {
		total += s.Proof.Seconds
		list = append(list, fmt.Sprintf("The proof took %s: %d rounds per side.", span(s.Proof.Seconds), s.Proof.Rounds))
	}
	if s.Price > 0 {
		list = append(list, fmt.Sprintf("At $%.2f an hour that is %s.", s.Price, words.Dollars(s.Price*total/3600)))
	}
	if why := map[string]string{"budget": "the budget was spent", "evaluations": "all requested evaluations were done", "space": "every point was tried", "interrupted": "it was interrupted"}[s.End]; why != "" {
		list = append(list, "It ended because "+why+".")
	}
	return list
}

func span(seconds float64) string {
	return words.Duration(time.Duration(min(seconds, 1e9) * float64(time.Second)))
}
