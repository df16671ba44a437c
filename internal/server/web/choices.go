package web

import (
	"net/url"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// Choices are links: every view of a page has a URL.

// Spans returns the periods that an overview can cover, in days.
func (Overview) Spans() []int { return []int{1, 7, 30, 90} }

// RunTable is a table of runs.
type RunTable struct {
	Project *client.Project
	List    []client.Run
	Beds    map[int64]string
}

// RunTable returns the latest runs.
func (o Overview) RunTable() RunTable { return RunTable{&o.Project, o.Runs, o.Beds} }

// RunTable returns the runs of the page.
func (r Runs) RunTable(p *client.Project) RunTable { return RunTable{p, r.List, r.Beds} }

// RunTable returns the latest runs of the testbed.
func (t Testbed) RunTable(p *client.Project) RunTable {
	return RunTable{p, t.Runs, map[int64]string{t.Bed.ID: TestbedName(t.Bed.Facts)}}
}

// Lanes returns the lanes that a series can belong to.
func (SeriesList) Lanes() []client.Lane {
	return []client.Lane{client.Main, client.Branch, client.Fork}
}

// Range is a part of a history to show.
type Range struct {
	Text, Query string
	Current     bool
}

// Ranges returns the parts of a history to offer, counted back from its end.
func (s Series) Ranges() []Range {
	end := s.Series.LastAt
	if end.IsZero() && len(s.Points) > 0 {
		end = s.Points[len(s.Points)-1].At
	}
	list := []Range{{"all", "?", s.From.IsZero()}}
	for _, r := range []struct {
		text string
		days int
	}{{"a year", 365}, {"90 days", 90}, {"30 days", 30}, {"7 days", 7}} {
		from := end.AddDate(0, 0, -r.days).Truncate(time.Hour)
		list = append(list, Range{r.text, "?from=" + url.QueryEscape(from.UTC().Format(time.RFC3339)), s.From.Equal(from)})
	}
	return list
}

// NamedSide is a side as the template sees it.
type NamedSide struct {
	Side
	Name    string
	Project *client.Project
}

// Of returns one of the sides.
func (c Compare) Of(name string, p *client.Project) NamedSide {
	if name == "A" {
		return NamedSide{c.A, name, p}
	}
	return NamedSide{c.B, name, p}
}

// Tick returns the label above a column: the date, if there is space for it.
func (h Heat) Tick(i int) string {
	every := max(1, (len(h.Columns)+7)/8)
	if (len(h.Columns)-1-i)%every != 0 {
		return ""
	}
	return h.Columns[i].At.UTC().Format("2 Jan")
}

// Cell describes one cell completely.
func (r HeatRow) Cell(i int, h Heat) string {
	c := h.Columns[i]
	text := r.Series.Name + ": " + r.Cells[i].Word() + " at " + short(c.Commit) + ", " + day(c.At)
	if c.Title != "" {
		text += ", " + c.Title
	}
	return text
}

// Short formats the change as briefly as possible.
func (c HeatCell) Short() string {
	if c.Class() == "w0" {
		return ""
	}
	text := strconv.FormatFloat(c.Change*100, 'f', 0, 64)
	if c.Change > 0 {
		return "+" + text
	}
	return text
}
