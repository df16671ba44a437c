package web

import (
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// Live is a run that is under way.
type Live struct {
	client.LiveRun
	Kept   int64         // the run as it was reported; 0 before
	Silent time.Duration // since its last word
}

// Title is the heading.
func (l Live) Title() string {
	if l.Suite == "" {
		return "A live run"
	}
	return "Live run of " + report.Plain(l.Suite)
}
func (Live) tab() string { return "runs" }

// Over tells whether there will be no more of it.
func (l Live) Over() bool { return l.State != "" }

// Lost tells of a run that went away without a word.
func (l Live) Lost() bool { return !l.Over() && l.Silent > time.Minute }

// Share is how much of the rounds up to the next look is done.
func (l Live) Share() int {
	if l.Of <= 0 {
		return 0
	}
	return min(100, 100*l.Round/l.Of)
}

// Columns are the sides as they were announced.
func (l Live) Columns() []string {
	if len(l.Sides) == 0 {
		return []string{measure.Candidate}
	}
	return l.Sides
}

// Compared tells whether a candidate and a base stand side by side.
func (l Live) Compared() bool {
	there := map[string]bool{}
	for _, s := range l.Sides {
		there[s] = true
	}
	return there[measure.Candidate] && there[measure.Base]
}

// Cell is what a side of a row took, in words.
func (Live) Cell(row client.LiveRow, side string) string {
	v, ok := row.Sides[side]
	switch {
	case !ok:
		return ""
	case v.Failed != "":
		return "failed: " + report.Plain(v.Failed)
	default:
		return report.Quantity(v.Value, row.Unit)
	}
}

// Ratio is how far the candidate is from its base so far, in words. It is no verdict: the
// judge has not spoken.
func (Live) Ratio(row client.LiveRow) string {
	a, b := row.Sides[measure.Base], row.Sides[measure.Candidate]
	if a.Value <= 0 || b.Value <= 0 || a.Failed != "" || b.Failed != "" {
		return ""
	}
	return Change(b.Value/a.Value - 1)
}
