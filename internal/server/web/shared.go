package web

import (
	"html/template"
	"math"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Shared is the page of a public link: the history of one series.
type Shared struct {
	Series  client.Series
	Bed     string
	Points  []client.StoredPoint // thinned out, oldest first
	Events  []client.Event
	Expires time.Time
}

// Title returns the heading.
func (s Shared) Title() string { return words.Sanitize(s.Series.Name) }
func (Shared) tab() string     { return "" }

// Chart draws the history.
func (s Shared) Chart() template.HTML { return drawHistory(s.Points, s.Events, s.Series.Unit) }

// Describe describes the chart in words.
func (s Shared) Describe() string { return describeHistory(s.Series, s.Points, s.Events) }

// ProjectBadge returns the badge of a project with this many causes of regressions that have no answer yet.
func ProjectBadge(open int) string { return badge("performance", openText(open), open) }

// SeriesBadge returns the badge of a series: its last value, or its regressions that have no answer yet.
func SeriesBadge(s client.Series, open int) string {
	text := openText(open)
	switch {
	case open == 0 && s.Points == 0:
		text = "no results"
	case open == 0:
		text = words.Quantity(s.Last, s.Unit)
	}
	return badge(s.Name, text, open)
}

func openText(open int) string {
	if open == 0 {
		return "no open regressions"
	}
	return words.Plural(open, "open regression")
}

// badge draws a label and a text beside it. Both may be untrusted.
func badge(label, text string, open int) string {
	const height, pad, most = 20.0, 7.0, 240.0
	label, text = words.Sanitize(label), words.Sanitize(text)
	left := chart.Label{Text: label, Align: chart.Start}.Fit(most)
	right := chart.Label{Text: text, Bold: true, Align: chart.Start}.Fit(most)
	tone := chart.Good
	if open > 0 {
		tone = chart.Bad
	}
	split := left.Width() + 2*pad
	d := chart.New(split+right.Width()+2*pad, height)
	d.Bar(chart.Faint, 0, 0, split, height)
	d.Write(chart.Ink, chart.At(pad, 14), left)
	d.Write(tone, chart.At(split+pad, 14), right)
	return d.File(1, label+": "+text, "Badge of pawl")
}

// EmbeddedChart draws the history of a series as a file of its own, for other sites: values with their interval, the baseline in
// dashes, and a line at each change.
func EmbeddedChart(s client.Series, points []client.StoredPoint, events []client.Event) string {
	const width, height, left, right, top, bottom = 640.0, 240.0, 56.0, 12.0, 30.0, 22.0
	name := words.Sanitize(s.Name)
	d := chart.New(width, height)
	d.Write(chart.Ink, chart.At(8, 17), chart.Label{Text: name, Bold: true, Align: chart.Start}.Fit(width-180))
	if len(points) == 0 {
		d.Write(chart.Soft, chart.At(left, height/2), chart.Label{Text: "no results", Align: chart.Start})
		return d.File(1, name, "No results.")
	}
	last := points[len(points)-1]
	d.Write(chart.Soft, chart.At(width-right, 17), chart.Label{Text: words.Quantity(float64(last.Value), s.Unit) + ", " + day(last.At), Align: chart.End})
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, float64(p.Low), float64(p.Value)), max(high, float64(p.High), float64(p.Value))
	}
	pad := max((high-low)*0.06, math.Abs(high)*0.005, 1e-9)
	y := chart.Scale{Low: low - pad, High: high + pad, From: height - bottom, To: top}
	span := max(last.At.Sub(points[0].At).Seconds(), 1)
	x := func(t time.Time) float64 {
		return left + min(max(t.Sub(points[0].At).Seconds()/span, 0), 1)*(width-left-right)
	}
	ticks := y.Ticks(4)
	texts, unit := chart.TickTexts(ticks, s.Unit)
	for i, v := range ticks {
		d.Line(chart.Rule, 1, chart.At(left, y.At(v)), chart.At(width-right, y.At(v)))
		d.Write(chart.Soft, chart.At(left-6, y.At(v)+4), chart.Label{Text: texts[i] + " " + words.Sanitize(unit), Align: chart.End})
	}
	for _, e := range events {
		tone := chart.Good
		if e.Worse {
			tone = chart.Bad
		}
		d.Line(tone, 1, chart.At(x(e.At), top), chart.At(x(e.At), height-bottom))
	}
	var lows, values, highs []chart.Point
	for _, p := range points {
		lows, highs = append(lows, chart.At(x(p.At), y.At(float64(p.Low)))), append(highs, chart.At(x(p.At), y.At(float64(p.High))))
		values = append(values, chart.At(x(p.At), y.At(float64(p.Value))))
	}
	d.Line(chart.Soft, 1, lows...)
	d.Line(chart.Soft, 1, highs...)
	d.Line(chart.Now, 1.5, values...)
	d.Dot(chart.Now, values[len(values)-1], 3, false)
	d.Write(chart.Soft, chart.At(left, height-6), chart.Label{Text: day(points[0].At), Align: chart.Start})
	d.Write(chart.Soft, chart.At(width-right, height-6), chart.Label{Text: day(last.At), Align: chart.End})
	return d.File(1, name, describeHistory(s, points, events))
}
