package web

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// CompareRuns is the page that compares two runs, or the runs of two commits.
type CompareRuns struct {
	A, B      RunSide
	Recent    []client.Run // to pick from
	Beds      map[int64]string
	Pairs     []RunPair
	MorePairs int // pairs that are not shown
}

// RunSide is one side of a comparison, as asked for.
type RunSide struct {
	Text    string // run-N, or the start of a commit; empty if not chosen
	Commit  string
	Title   string // of the commit
	Problem string // why there are no runs
}

// RunPair is two runs and the cases that both measured.
type RunPair struct {
	A, B         client.Run
	Unlike       string // why they cannot be compared
	Cases        []Compare
	More         int // cases that are not shown
	OnlyA, OnlyB int // cases that only one of them has
}

// Title summarizes the comparison.
func (c CompareRuns) Title() string {
	worse, better, cases := 0, 0, 0
	for _, p := range c.Pairs {
		if p.Unlike != "" {
			continue
		}
		cases += len(p.Cases)
		w, b := p.Differ()
		worse, better = worse+w, better+b
	}
	switch {
	case cases == 0:
		return "Compare two runs or commits"
	case worse == 0 && better == 0:
		return fmt.Sprintf("B does not differ from A in %s", words.Plural(cases, "case"))
	case better == 0:
		return fmt.Sprintf("B is worse in %d of %s", worse, words.Plural(cases, "case"))
	case worse == 0:
		return fmt.Sprintf("B is better in %d of %s", better, words.Plural(cases, "case"))
	default:
		return fmt.Sprintf("B is worse in %d of %s, better in %d", worse, words.Plural(cases, "case"), better)
	}
}
func (CompareRuns) tab() string { return "compare" }

// Chosen reports whether both sides are chosen.
func (c CompareRuns) Chosen() bool { return c.A.Text != "" && c.B.Text != "" }

// Differ counts the cases whose intervals do not overlap.
func (p RunPair) Differ() (worse, better int) {
	for _, c := range p.Cases {
		switch {
		case !c.Apart():
		case c.Worse():
			worse++
		default:
			better++
		}
	}
	return worse, better
}

// Option is a run to pick.
type Option struct {
	Value, Text string
	Picked      bool
}

// Options returns the runs to pick for a side. A chosen run that is not among the latest comes first.
func (c CompareRuns) Options(side RunSide) []Option {
	var list []Option
	found := side.Text == ""
	for _, r := range c.Recent {
		value := fmt.Sprintf("run-%d", r.ID)
		found = found || value == side.Text
		list = append(list, Option{value, fmt.Sprintf("%s, %s, %s, %s", minute(r.Measured), words.Sanitize(r.Suite), short(r.Commit), c.Beds[r.Testbed]), value == side.Text})
	}
	if !found && isRun(side.Text) {
		list = append([]Option{{side.Text, side.Text, true}}, list...)
	}
	return list
}

// Typed returns the commit that was typed for a side; empty if a run was picked.
func (s RunSide) Typed() string {
	if isRun(s.Text) {
		return ""
	}
	return s.Text
}

func isRun(text string) bool { return strings.HasPrefix(text, "run-") }

// pick is the choice of one side, as the template sees it.
type pick struct {
	Name, Field string
	Side        RunSide
	Options     []Option
}

func newPick(name string, side RunSide, options []Option) pick {
	return pick{name, strings.ToLower(name), side, options}
}
