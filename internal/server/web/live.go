package web

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// Live is the page of a running run.
type Live struct {
	client.LiveRun
	Kept   int64         // id of the stored run; 0 if not reported yet
	Silent time.Duration // since its last message
}

// Title returns the heading.
func (l Live) Title() string {
	if l.Suite == "" {
		return "A live run"
	}
	return "Live run of " + words.Sanitize(l.Suite)
}
func (Live) tab() string { return "runs" }

// Over reports whether the run has ended.
func (l Live) Over() bool { return l.State != "" }

// Lost reports whether the run stopped sending without ending.
func (l Live) Lost() bool { return !l.Over() && l.Silent > time.Minute }

// Share returns the percentage of rounds done up to the next evaluation.
func (l Live) Share() int {
	if l.Of <= 0 {
		return 0
	}
	return min(100, 100*l.Round/l.Of)
}

// Columns returns the sides that the run announced.
func (l Live) Columns() []string {
	if len(l.Sides) == 0 {
		return []string{measure.Candidate}
	}
	return l.Sides
}

// Compared reports whether the run has both a candidate and a base.
func (l Live) Compared() bool {
	return slices.Contains(l.Sides, measure.Candidate) && slices.Contains(l.Sides, measure.Base)
}

// Cell formats the value of a side of a row.
func (Live) Cell(row client.LiveRow, side string) string {
	v, ok := row.Sides[side]
	switch {
	case !ok:
		return ""
	case v.Failed != "":
		return "failed: " + words.Sanitize(v.Failed)
	default:
		return words.Quantity(v.Value, row.Unit)
	}
}

// Ratio describes how far the candidate is from its base so far. It is not a verdict.
func (Live) Ratio(row client.LiveRow) string {
	a, b := row.Sides[measure.Base], row.Sides[measure.Candidate]
	if a.Value <= 0 || b.Value <= 0 || a.Failed != "" || b.Failed != "" {
		return ""
	}
	return Change(b.Value/a.Value - 1)
}
