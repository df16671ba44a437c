package page

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/report"
)

// The measures of a tree, in units of a page whose small text is 9.5 high.
const (
	treeWide  = 620.0
	treeSide  = 14.0
	askWide   = 250.0 // of a gate's box
	doLeft    = treeSide + askWide + 56
	doWide    = treeWide - doLeft - treeSide
	textLine  = 12.5
	boxPad    = 7.0
	boxGap    = 15.0
	phaseHigh = 30.0

	// room is the part of a box that text may take by pawl's own fonts: those of a browser
	// may be wider.
	room = 0.82
)

// Tree draws the phases and their gates as a tree of decisions: down where the answer is
// yes, to the right what to do where it is no. It is a file of its own, in light and dark.
func Tree(set *gates.Set) string {
	type node struct {
		phase string // heading above it, where a phase begins
		ask   []string
		do    []string
		run   []string
		high  float64
	}
	var nodes []node
	high := treeSide + 20.0
	for i, p := range set.Phases {
		for j, g := range p.Gates {
			n := node{ask: report.SmallLines(question(g.Title), room*(askWide-2*boxPad), 4), run: failCommand(g)}
			n.do = report.SmallLines(failWords(g), room*(doWide-2*boxPad), 7)
			if j == 0 {
				n.phase = fmt.Sprintf("%d  %s", i+1, p.Title)
				high += phaseHigh
			}
			rows := len(n.do)
			rows += len(n.run)
			n.high = float64(max(len(n.ask), rows))*textLine + 2*boxPad
			high += n.high + boxGap
			nodes = append(nodes, n)
		}
	}
	high += 26
	s := report.NewSketch(treeWide, high)
	s.Write(report.Soft, report.Place{X: treeSide, Y: treeSide + 4}, report.Label{Text: "passed: go on, downwards", Align: -1})
	s.Write(report.Bad, report.Place{X: treeWide - treeSide, Y: treeSide + 4}, report.Label{Text: "not passed: stop, and do this", Align: 1})
	y, middle := treeSide+20.0, treeSide+askWide/2
	for i, n := range nodes {
		if n.phase != "" {
			y += phaseHigh
			s.Write(report.Now, report.Place{X: treeSide, Y: y - 9}, report.Label{Text: n.phase, Align: -1, Bold: true, Heading: true})
		}
		box(s, report.Now, treeSide, y, askWide, n.high, n.ask, nil)
		if len(n.do) > 0 {
			box(s, report.Bad, doLeft, y, doWide, n.high, n.do, n.run)
			at := y + n.high/2
			s.Arrow(report.Bad, report.Place{X: treeSide + askWide, Y: at}, report.Place{X: doLeft, Y: at})
			s.Write(report.Bad, report.Place{X: (treeSide + askWide + doLeft) / 2, Y: at - 4}, report.Label{Text: "no"})
		}
		below := y + n.high + boxGap
		if i+1 < len(nodes) && nodes[i+1].phase != "" {
			below += phaseHigh
		}
		s.Arrow(report.Good, report.Place{X: middle, Y: y + n.high}, report.Place{X: middle, Y: below})
		y = y + n.high + boxGap
	}
	s.Write(report.Good, report.Place{X: middle, Y: y + 14}, report.Label{Text: "done: pawl session end", Bold: true})
	return s.SVG("Phases and gates of kernel work", treeWords(set))
}

// box is a box with text, and a command below it.
func box(s *report.Sketch, t report.Tone, x, y, wide, high float64, text, run []string) {
	s.Bar(report.Faint, x, y, wide, high)
	s.Bar(t, x, y, 3, high)
	rows := len(text) + len(run)
	at := y + (high-float64(rows)*textLine)/2 + textLine - 3
	for _, line := range text {
		s.Write(report.Ink, report.Place{X: x + boxPad + 2, Y: at}, report.Label{Text: line, Align: -1})
		at += textLine
	}
	for _, line := range run {
		s.Write(t, report.Place{X: x + boxPad + 2, Y: at}, report.Label{Text: line, Align: -1, Mono: true, Most: wide - 2*boxPad - 2})
		at += textLine
	}
}

// question is a gate's title as one: a picture asks.
func question(title string) string { return strings.TrimSuffix(title, ".") + "?" }

// failWords is what to do where a gate's answer is no, without a session to speak of.
func failWords(g gates.Gate) string {
	text := g.Fails
	if text == "" {
		text = g.Do
	}
	return general(text)
}

// failCommand is the command for that, one part a line.
func failCommand(g gates.Gate) []string {
	run := g.FailRun
	if run == "" {
		run = g.Run
	}
	if run = general(run); run == "" {
		return nil
	}
	return strings.SplitAfter(run, "&& ")
}

// treeWords is the tree for who does not see it.
func treeWords(set *gates.Set) string {
	var b strings.Builder
	for i, p := range set.Phases {
		fmt.Fprintf(&b, "Phase %d, %s. ", i+1, p.Title)
		for _, g := range p.Gates {
			fmt.Fprintf(&b, "%s If yes, go on. If no: %s ", question(g.Title), failWords(g))
		}
	}
	return strings.TrimSpace(b.String())
}
