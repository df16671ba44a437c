package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// MaxLines is the number of series that one chart can show: as many as have a color, a dash and a letter of their own.
const MaxLines = 8

// Chart is the page of several series in one chart.
type Chart struct {
	Project  client.Project
	Lines    []ChartLine
	ByCommit bool // one step per commit, not to scale in time
	Values   bool // measured values instead of changes; only if all series have one unit
	Days     int  // how far to look back; 0 means all
	Events   []client.Event
	Titles   map[string]string // of commits, if known
	States   []client.EventState
	CanWrite bool
}

// ChartLine is one series of a chart.
type ChartLine struct {
	Series client.Series
	Bed    string
	Points []client.StoredPoint // thinned out, oldest first
}

// Title returns the heading.
func (c Chart) Title() string {
	switch first := c.first(); {
	case len(c.Lines) == 0:
		return "Chart series together"
	case len(c.Lines) == 1:
		return words.Sanitize(first.Name)
	case !c.differ(func(s client.Series) any { return s.Name }):
		return fmt.Sprintf("%s, %d ways", words.Sanitize(first.Name), len(c.Lines))
	default:
		return words.Plural(len(c.Lines), "series") + " together"
	}
}
func (Chart) tab() string { return "series" }

func (c Chart) first() client.Series {
	if len(c.Lines) == 0 {
		return client.Series{}
	}
	return c.Lines[0].Series
}

// differ reports whether the series differ in something.
func (c Chart) differ(in func(client.Series) any) bool {
	return slices.ContainsFunc(c.Lines, func(l ChartLine) bool { return in(l.Series) != in(c.first()) })
}

// OneUnit reports whether all series have the same unit.
func (c Chart) OneUnit() bool { return !c.differ(func(s client.Series) any { return s.Unit }) }

// letter returns the letter of a line. Letters, dashes and order tell lines apart, not color alone.
func letter(i int) string { return string(rune('A' + i)) }

// Empty reports whether no line has points.
func (c Chart) Empty() bool {
	return !slices.ContainsFunc(c.Lines, func(l ChartLine) bool { return len(l.Points) > 0 })
}

// Direction says what up means.
func (c Chart) Direction() string {
	switch {
	case c.differ(func(s client.Series) any { return s.Better == measure.Higher }):
		return "For some series lower is better, for others higher."
	case c.first().Better == measure.Higher:
		return "Higher is better."
	default:
		return "Lower is better."
	}
}

// LegendRow is a line in the legend.
type LegendRow struct {
	ChartLine
	Letter string
	Class  string // of its color and dash
	Change float64
	Moved  bool   // Change differs from 0 for the reader
	Worse  bool   // the change is for the worse
	Remove string // query of the chart without the line
}

// Legend returns the lines with their change over the chart.
func (c Chart) Legend() []LegendRow {
	list := make([]LegendRow, len(c.Lines))
	for i, l := range c.Lines {
		row := LegendRow{ChartLine: l, Letter: letter(i), Class: "k" + strconv.Itoa(i+1), Remove: c.without(i)}
		if n := len(l.Points); n > 0 && l.reference() > 0 {
			row.Change = l.ending()/l.reference() - 1
			row.Moved = math.Abs(row.Change) >= 0.0005
			row.Worse = row.Change > 0 != (l.Series.Better == measure.Higher)
		}
		list[i] = row
	}
	return list
}

// Last returns the last value of a line.
func (l ChartLine) Last() string {
	if len(l.Points) == 0 {
		return ""
	}
	return words.Quantity(float64(l.Points[len(l.Points)-1].Value), l.Series.Unit)
}

// reference returns what changes of a line are relative to: the median of its first points.
func (l ChartLine) reference() float64 { return medianOf(l.Points[:l.atEnd()]) }

// ending returns the median of the last points of a line.
func (l ChartLine) ending() float64 { return medianOf(l.Points[len(l.Points)-l.atEnd():]) }

// atEnd returns the number of points at either end of a line that are compared: five, or half of a short one.
func (l ChartLine) atEnd() int { return min(len(l.Points), max(1, min(5, len(l.Points)/2))) }

func medianOf(points []client.StoredPoint) float64 {
	if len(points) == 0 {
		return 0
	}
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = float64(p.Value)
	}
	return stats.Median(values)
}

// value returns the height of a point in the chart.
func (c Chart) value(l ChartLine, p client.StoredPoint) float64 {
	if c.Values {
		return float64(p.Value)
	}
	if ref := l.reference(); ref > 0 {
		return 100 * (float64(p.Value)/ref - 1)
	}
	return 0
}

// Unit returns the unit of the first series.
func (c Chart) Unit() string { return c.first().Unit }

func (c Chart) unit() string {
	if c.Values {
		return c.Unit()
	}
	return "%"
}

// With returns the query of the chart with one choice changed.
func (c Chart) With(name, value string) string {
	ids := make([]string, len(c.Lines))
	for i, l := range c.Lines {
		ids[i] = strconv.FormatInt(l.Series.ID, 10)
	}
	choices := map[string]string{
		"series": strings.Join(ids, ","), "by": map[bool]string{true: "commit"}[c.ByCommit], "show": map[bool]string{true: "values"}[c.Values], "days": strconv.Itoa(c.Days),
	}
	choices[name] = value
	return query(choices, map[string]string{"days": "90"})
}

func (c Chart) without(line int) string {
	var ids []string
	for i, l := range c.Lines {
		if i != line {
			ids = append(ids, strconv.FormatInt(l.Series.ID, 10))
		}
	}
	return c.With("series", strings.Join(ids, ","))
}

// ChartSpan is a period to show.
type ChartSpan struct {
	Days int
	Text string
}

// Spans returns the periods to show.
func (Chart) Spans() []ChartSpan {
	return []ChartSpan{{7, "7 days"}, {30, "30 days"}, {90, "90 days"}, {365, "a year"}, {0, "all"}}
}

// Changes returns the events of the chart with the letters of their lines.
func (c Chart) Changes(p *client.Project, back string) []ChangeRow {
	list := make([]ChangeRow, len(c.Events))
	for i, e := range c.Events {
		line := slices.IndexFunc(c.Lines, func(l ChartLine) bool { return l.Series.ID == e.Series })
		list[i] = ChangeRow{Event: e, Number: i + 1, Project: p, States: c.States, CanWrite: c.CanWrite, Back: back, Title: c.Titles[e.To]}
		if line >= 0 {
			list[i].Unit, list[i].Letter = c.Lines[line].Series.Unit, letter(line)
		}
	}
	return list
}

// ChangeRow is an event below a chart, with the form that answers it.
type ChangeRow struct {
	client.Event
	Number   int
	Letter   string // of its line; empty if the chart has only one
	Unit     string
	Title    string // of its commit
	Project  *client.Project
	States   []client.EventState
	CanWrite bool
	Back     string
}

// Place returns where the cause is.
func (r ChangeRow) Place() ChangeLocation { return newPlace(r.Project, r.Event, r.Title, "") }
