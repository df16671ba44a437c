package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/report"
)

// classes are the bottlenecks in the order in which the tree of a diagnosis asks, with the
// question in words.
var classes = []struct {
	class diagnose.Bottleneck
	ask   string
}{
	{diagnose.Launch, "Is there too little work for the device?"},
	{diagnose.Memory, "Is memory the busiest part?"},
	{diagnose.Compute, "Is arithmetic the busiest part?"},
	{diagnose.Balanced, "Are both about equally busy?"},
	{diagnose.Occupancy, "Are there too few warps?"},
	{diagnose.Latency, "Do warps wait?"},
}

// Symptoms draws the rules of a diagnosis as a tree: from the class of a kernel over the
// symptom to the first fix to try.
func Symptoms(rules *diagnose.RuleSet) string {
	const (
		titleLeft = 30.0
		titleWide = 236.0
		fixLeft   = titleLeft + titleWide + 34
		fixWide   = treeWide - fixLeft - treeSide
		rowGap    = 7.0
	)
	type leaf struct {
		title, fix []string
		high       float64
	}
	type branch struct {
		ask    string
		leaves []leaf
	}
	var tree []branch
	high, words := treeSide+14.0, strings.Builder{}
	for _, c := range classes {
		b := branch{ask: fmt.Sprintf("%s  (%s)", c.ask, c.class)}
		high += phaseHigh
		fmt.Fprintf(&words, "%s ", c.ask)
		for _, r := range ofClass(rules, c.class) {
			fix := general(r.Fixes[0].Do)
			l := leaf{title: report.SmallLines(r.Title, room*titleWide, 3), fix: report.SmallLines(fix, room*fixWide, 4)}
			l.high = float64(max(len(l.title), len(l.fix))) * textLine
			high += l.high + rowGap
			b.leaves = append(b.leaves, l)
			fmt.Fprintf(&words, "%s: %s. ", r.Title, fix)
		}
		tree = append(tree, b)
	}
	s := report.NewSketch(treeWide, high+8)
	s.Write(report.Soft, report.Place{X: treeSide, Y: treeSide + 4}, report.Label{Text: "what the profile shows", Align: -1})
	s.Write(report.Good, report.Place{X: fixLeft, Y: treeSide + 4}, report.Label{Text: "what to try first", Align: -1})
	y := treeSide + 14.0
	for _, b := range tree {
		y += phaseHigh
		s.Write(report.Now, report.Place{X: treeSide, Y: y - 9}, report.Label{Text: b.ask, Align: -1, Bold: true, Heading: true})
		top, stem := y-4, treeSide+4
		for i, l := range b.leaves {
			at := y + l.high/2
			if i == len(b.leaves)-1 {
				s.Line(report.Rule, 1, report.Place{X: stem, Y: top}, report.Place{X: stem, Y: at})
			}
			s.Line(report.Rule, 1, report.Place{X: stem, Y: at}, report.Place{X: titleLeft - 4, Y: at})
			column(s, report.Ink, titleLeft, at, l.title)
			s.Arrow(report.Good, report.Place{X: fixLeft - 24, Y: at}, report.Place{X: fixLeft - 6, Y: at})
			column(s, report.Ink, fixLeft, at, l.fix)
			y += l.high + rowGap
		}
	}
	return s.SVG("From symptom to fix", strings.TrimSpace(words.String()))
}

// column sets lines so that their middle is at y.
func column(s *report.Sketch, t report.Tone, x, y float64, text []string) {
	at := y - float64(len(text))*textLine/2 + textLine - 3
	for _, line := range text {
		s.Write(t, report.Place{X: x, Y: at}, report.Label{Text: line, Align: -1})
		at += textLine
	}
}

// ofClass are the rules of a class that have a fix, those of the host last: they are
// another kind of kernel.
func ofClass(rules *diagnose.RuleSet, class diagnose.Bottleneck) []*diagnose.Rule {
	var list []*diagnose.Rule
	for _, r := range rules.All() {
		if r.Class == class && len(r.Fixes) > 0 {
			list = append(list, r)
		}
	}
	host := func(r *diagnose.Rule) int {
		if strings.HasPrefix(r.ID, "host-") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *diagnose.Rule) int { return host(a) - host(b) })
	return list
}
