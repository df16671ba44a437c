package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// HeatRow is one series of a heat map, with a cell for each commit.
type HeatRow struct {
	Series client.Series
	Cells  []HeatCell
}

// HeatCell is the value of a series at a commit; Value is 0 if it was not measured.
type HeatCell struct {
	Value  float64
	Change float64 // relative to the row's median; above zero means worse
}

// Heat is the heat map of a suite: configs down, commits across.
type Heat struct {
	Suite   string
	Suites  []string
	Bed     int64
	Beds    []client.Testbed
	Numbers bool // show numbers in the cells
	Columns []client.HeatColumn
	Rows    []HeatRow
}

// Title returns the heading.
func (h Heat) Title() string { return "Suite " + words.Sanitize(h.Suite) }
func (Heat) tab() string     { return "suites" }

// Level sets the change of each cell relative to the median of its row.
func (h *Heat) Level() {
	for r := range h.Rows {
		row := &h.Rows[r]
		var values []float64
		for _, c := range row.Cells {
			if c.Value > 0 {
				values = append(values, c.Value)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		level := values[len(values)/2]
		for i := range row.Cells {
			if c := &row.Cells[i]; c.Value > 0 {
				c.Change = c.Value/level - 1
				if row.Series.Better == "higher" {
					c.Change = level/c.Value - 1
				}
			}
		}
	}
}

// Class returns the color class of a cell: w1 to w4 for worse, b1 to b4 for better, w0 for the same.
func (c HeatCell) Class() string {
	if c.Value == 0 {
		return "none"
	}
	step := 0
	for _, limit := range []float64{0.015, 0.04, 0.08, 0.16} {
		if math.Abs(c.Change) >= limit {
			step++
		}
	}
	if step == 0 {
		return "w0"
	}
	if c.Change > 0 {
		return fmt.Sprintf("w%d", step)
	}
	return fmt.Sprintf("b%d", step)
}

// Word describes the color in words.
func (c HeatCell) Word() string {
	switch {
	case c.Value == 0:
		return "not measured"
	case c.Class() == "w0":
		return "as usual"
	case c.Change > 0:
		return Change(c.Change) + ", worse"
	default:
		return Change(c.Change) + ", better"
	}
}

// Sentence describes the map for users who cannot see it: the rows that stand out.
func (h Heat) Sentence() string {
	type odd struct {
		name  string
		worst float64
	}
	var list []odd
	for _, r := range h.Rows {
		worst := 0.0
		for _, c := range r.Cells {
			worst = max(worst, c.Change)
		}
		if worst >= 0.04 {
			list = append(list, odd{words.Sanitize(r.Series.Name), worst})
		}
	}
	slices.SortStableFunc(list, func(a, b odd) int { return cmp.Compare(b.worst, a.worst) })
	text := fmt.Sprintf("%s over %s.", words.Plural(len(h.Rows), "series"), words.Plural(len(h.Columns), "commit"))
	if len(list) == 0 {
		return text + " No series was worse than its own level by 4 % or more."
	}
	text += " Furthest above their own level:"
	for i, o := range list[:min(3, len(list))] {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %s (%s)", o.name, Change(o.worst))
	}
	return text + "."
}
