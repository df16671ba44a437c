package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// drawHistory draws a series: intervals as a band, values as a line, the steps of the baseline, and a
// numbered mark at each event.
func drawHistory(points []client.StoredPoint, events []client.Event, unit string) template.HTML {
	if len(points) == 0 {
		return ""
	}
	var all template.HTML
	for _, size := range sizes {
		shown := Thin(points, size.buckets)
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range shown {
			low, high = min(low, float64(p.Low), float64(p.Value)), max(high, float64(p.High), float64(p.Value))
			if p.Baseline > 0 {
				low, high = min(low, float64(p.Baseline)), max(high, float64(p.Baseline))
			}
		}
		c := newPlot(size.class, size.width, size.height, shown[0].At, shown[len(shown)-1].At, low, high, unit)
		c.band(shown)
		c.baseline(shown)
		c.values(shown)
		for i, e := range events {
			c.event(e, i+1)
		}
		all += c.HTML()
	}
	return all
}

func (p *plot) band(points []client.StoredPoint) {
	var t chart.Trace
	for _, k := range points {
		t.To(p.x(k.At), p.y.At(float64(k.High)))
	}
	for _, k := range slices.Backward(points) {
		t.To(p.x(k.At), p.y.At(float64(k.Low)))
	}
	p.Path("band", t.String()+"Z")
}

// baseline draws the baseline as steps: its value when each point was judged.
func (p *plot) baseline(points []client.StoredPoint) {
	var t chart.Trace
	before := 0.0
	for _, k := range points {
		v := float64(k.Baseline)
		if k.Moved {
			v = float64(k.Value)
		}
		if v <= 0 {
			t.Lift()
			before = 0
			continue
		}
		if before > 0 && v != before {
			t.To(p.x(k.At), p.y.At(before))
		}
		if v != before || k.At.Equal(points[len(points)-1].At) {
			t.To(p.x(k.At), p.y.At(v))
		}
		before = v
	}
	p.Path("through", t.String())
}

// dotsDrawn is the maximum number of points that are drawn with dots.
const dotsDrawn = 120

func (p *plot) values(points []client.StoredPoint) {
	var t chart.Trace
	for _, k := range points {
		t.To(p.x(k.At), p.y.At(float64(k.Value)))
	}
	p.Path("line m1", t.String())
	if len(points) > dotsDrawn {
		return
	}
	for _, k := range points {
		p.Dot("s1", p.x(k.At), p.y.At(float64(k.Value)), 2.2)
	}
}

func (p *plot) event(e client.Event, number int) {
	class, at := changeClass(e.Worse), e.At
	if e.Kind == "drift" { // a drift has no single place: shade its range, with the number in the middle
		at = e.Since.Add(e.At.Sub(e.Since) / 2)
		if from, to := max(p.x(e.Since), p.left), min(p.x(e.At), p.Width-p.right); to > from {
			p.Path("crept "+class, chart.Box(from, p.top, to, p.Height-p.bottom))
		}
	}
	if at.Before(p.from) || at.After(p.to) {
		return
	}
	x := p.x(at)
	if e.Kind != "drift" {
		p.Path("event "+class, chart.Move(x, p.top-4)+"V"+chart.Coord(p.Height-p.bottom))
	}
	// The list below the chart has the same links, for users of a keyboard.
	p.Addf(`<a href="#event-%d" tabindex="-1">`, e.ID)
	p.Dot("flag "+class, x, 11, 8)
	p.Text(x, 15, "c flagged", strconv.Itoa(number))
	p.Addf("</a>")
}

// describeHistory describes the chart for users who cannot see it.
func describeHistory(s client.Series, points []client.StoredPoint, events []client.Event) string {
	if len(points) == 0 {
		return "No points in this range."
	}
	low, high := points[0], points[0]
	for _, p := range points {
		if p.Value < low.Value {
			low = p
		}
		if p.Value > high.Value {
			high = p
		}
	}
	first, last := points[0], points[len(points)-1]
	return fmt.Sprintf("From %s on %s to %s on %s; lowest %s on %s, highest %s on %s; %s. Shaded: the interval of each point. Dashed: the baseline.",
		words.Quantity(float64(first.Value), s.Unit), day(first.At), words.Quantity(float64(last.Value), s.Unit), day(last.At),
		words.Quantity(float64(low.Value), s.Unit), day(low.At), words.Quantity(float64(high.Value), s.Unit), day(high.At), counted(len(events), "change"))
}

func counted(n int, noun string) string {
	if n == 0 {
		return "no " + noun
	}
	return words.Plural(n, noun)
}

// sparkSpan is the smallest range of values of a spark, as a share: twice the limit of a gate, so that quiet histories
// look quiet.
const sparkSpan = 0.06

// spark draws a history so small that only its shape is visible: gray, and in color after a change.
func spark(points []client.StoredPoint, e *client.Event) template.HTML {
	const width, height = 240.0, 48.0
	points = Thin(points, 60)
	if len(points) < 2 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, float64(p.Value)), max(high, float64(p.Value))
	}
	if short := sparkSpan*math.Abs(high) - (high - low); short > 0 {
		low, high = low-short/2, high+short/2
	}
	d := chart.NewSVG("spark", width, height)
	span := max(points[len(points)-1].At.Sub(points[0].At).Seconds(), 1)
	at := func(t time.Time) float64 { return 3 + t.Sub(points[0].At).Seconds()/span*(width-6) }
	y := func(v float64) float64 { return 4 + (high-v)/max(high-low, math.Abs(high)*1e-6)*(height-8) }
	class, since := "quiet", points[len(points)-1].At
	if e != nil && !e.At.Before(points[0].At) {
		class, since = changeClass(e.Worse), e.At
		if e.Kind == "drift" {
			since = e.Since
			d.Path("crept "+class, chart.Box(max(3, at(e.Since)), 0, at(e.At), height))
		} else {
			d.Path("event "+class, chart.Move(at(e.At), 0)+"V"+chart.Coord(height))
		}
	}
	var before, after chart.Trace
	for i, p := range points {
		x, y := at(p.At), y(float64(p.Value))
		if p.At.Before(since) || class == "quiet" {
			before.To(x, y)
			continue
		}
		if i > 0 && points[i-1].At.Before(since) {
			before.To(x, y)
		}
		after.To(x, y)
	}
	for _, part := range []struct{ class, path string }{{"quiet", before.String()}, {class, after.String()}} {
		if part.path != "" {
			d.Path("line "+part.class, part.path)
		}
	}
	last := points[len(points)-1]
	d.Dot("end "+class, at(last.At), y(float64(last.Value)), 3)
	return d.HTML()
}
