package learn

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/report"
)

// plot is what was expected against what came: on the diagonal, they are the same.
type plot struct {
	points []Against
	title  string
	axis   func(float64) float64 // a value in the measure of the axes, in which intervals are even
	back   func(float64) float64
	text   func(float64) string
	ticks  func(low, high float64) []float64
}

// mostPoints of a plot: the newest.
const mostPoints = 150

// GainPlot draws gains of fixes, MinutesPlot lengths of sessions, SpeedupPlot what sessions
// gained; nil where there is nothing to draw.
func (s *Story) GainPlot() *report.Sketch {
	return plot{
		points: s.Gains.Fixes, title: "gain of a fix", axis: same, back: same,
		text:  func(v float64) string { return fmt.Sprintf("%+.0f %%", 100*math.Expm1(v)) },
		ticks: func(low, high float64) []float64 { return report.Ticks(low, high, 5) },
	}.draw()
}

// MinutesPlot draws how long sessions took.
func (s *Story) MinutesPlot() *report.Sketch {
	return plot{
		points: s.Forecasts.Minutes, title: "minutes of a session", axis: math.Log, back: math.Exp,
		text: func(v float64) string { return fmt.Sprintf("%.0f", v) }, ticks: rounds,
	}.draw()
}

// SpeedupPlot draws what sessions gained.
func (s *Story) SpeedupPlot() *report.Sketch {
	return plot{
		points: s.Forecasts.Speedup, title: "speed-up by a session", axis: math.Log, back: math.Exp,
		text: func(v float64) string { return fmt.Sprintf("%.3gx", v) }, ticks: rounds,
	}.draw()
}

func same(v float64) float64 { return v }

// rounds are values for an axis of ratios.
func rounds(low, high float64) []float64 {
	var list []float64
	for _, v := range []float64{0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 240, 480, 960} {
		if l := math.Log(v); l >= low && l <= high {
			list = append(list, l)
		}
	}
	return list
}

const (
	plotSide   = 240.0
	plotLeft   = 44.0
	plotTop    = 22.0
	plotBottom = plotTop + plotSide
)

func (p plot) draw() *report.Sketch {
	points := p.points[max(0, len(p.points)-mostPoints):]
	if len(points) == 0 {
		return nil
	}
	low, high := p.bounds(points)
	at := func(v float64) float64 { return min(max((v-low)/(high-low), 0), 1) * plotSide }
	s := report.NewSketch(report.SketchWidth, plotBottom+34)
	s.Write(report.Ink, report.Place{X: plotLeft, Y: 12}, report.Label{Text: p.title, Align: -1, Bold: true})
	for _, tick := range p.ticks(low, high) {
		x, y := plotLeft+at(tick), plotBottom-at(tick)
		s.Line(report.Faint, 1, report.Place{X: x, Y: plotTop}, report.Place{X: x, Y: plotBottom})
		s.Line(report.Faint, 1, report.Place{X: plotLeft, Y: y}, report.Place{X: plotLeft + plotSide, Y: y})
		s.Write(report.Soft, report.Place{X: x, Y: plotBottom + 12}, report.Label{Text: p.text(p.back(tick))})
		s.Write(report.Soft, report.Place{X: plotLeft - 4, Y: y + 3}, report.Label{Text: p.text(p.back(tick)), Align: 1})
	}
	s.Dashes(report.Soft, 1, report.Place{X: plotLeft, Y: plotBottom}, report.Place{X: plotLeft + plotSide, Y: plotTop})
	s.Write(report.Soft, report.Place{X: plotLeft + plotSide, Y: plotBottom + 26}, report.Label{Text: "expected", Align: 1})
	s.Write(report.Soft, report.Place{X: plotLeft + 4, Y: plotTop + 9}, report.Label{Text: "came", Align: -1})
	for _, a := range points {
		x := plotLeft + at(p.axis(a.Expected))
		s.Line(report.Rule, 1.5, report.Place{X: x, Y: plotBottom - at(p.axis(a.Low))}, report.Place{X: x, Y: plotBottom - at(p.axis(a.High))})
	}
	for _, a := range points {
		tone := report.Now
		if !a.Inside {
			tone = report.Bad
		}
		s.Dot(tone, report.Place{X: plotLeft + at(p.axis(a.Expected)), Y: plotBottom - at(p.axis(a.Came))}, 3, !a.Inside)
	}
	return s
}

// bounds hold what was expected and what came; intervals may leave the picture.
func (p plot) bounds(points []Against) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, a := range points {
		for _, v := range []float64{p.axis(a.Expected), p.axis(a.Came)} {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if !(high >= low) {
		return -1, 1
	}
	room := max(0.08*(high-low), 0.05)
	return low - room, high + room
}
