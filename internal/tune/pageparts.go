package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/stats"
)

// drawImportance draws one bar per parameter: its own effect, and its interactions.
func drawImportance(m Importance) chart.Figure {
	const row, room = 27.0, chart.PhoneWidth - 40
	effects := m.Effects[:min(len(m.Effects), maxAxes)]
	s := chart.New(chart.PhoneWidth, row*float64(len(effects))+20)
	most := 0.0
	for _, e := range effects {
		most = max(most, e.Total, e.High)
	}
	for i, e := range effects {
		y := row * float64(i)
		s.Write(chart.Ink, chart.At(0, y+10), chart.Label{Text: e.Name, Align: chart.Start, Mono: true, Most: room})
		long := func(x float64) float64 { return x / most * room }
		s.Bar(chart.Rule, 0, y+13.5, long(e.Total), 8)
		s.Bar(chart.Now, 0, y+13.5, long(e.Share), 8)
		s.Line(chart.Ink, 1, chart.At(long(e.Low), y+17.5), chart.At(long(e.High), y+17.5))
		for _, end := range []float64{e.Low, e.High} {
			s.Line(chart.Ink, 1, chart.At(long(end), y+15), chart.At(long(end), y+20))
		}
		s.Write(chart.Ink, chart.At(long(max(e.Total, e.High))+5, y+20.5), chart.Label{Text: share(e.Share), Align: chart.Start})
	}
	y := row*float64(len(effects)) + 8
	at := 0.0
	for _, l := range []struct {
		tone chart.Tone
		text string
	}{{chart.Now, "by itself"}, {chart.Rule, "with others"}, {chart.Ink, "90 % interval"}} {
		if l.tone == chart.Ink {
			s.Line(l.tone, 1, chart.At(at, y+4), chart.At(at+9, y+4))
		} else {
			s.Bar(l.tone, at, y, 9, 8)
		}
		label := chart.Label{Text: l.text, Align: chart.Start}
		s.Write(chart.Soft, chart.At(at+13, y+7.5), label)
		at += 13 + label.Width() + 16
	}
	return chart.Figure{Drawing: s.HTML(), Caption: "Share of the differences in time that each parameter explains, over the whole space. The list has the same in words."}
}

// parallel draws every point as a line through its values, with the best 10 % in color.
func (f *frame) parallel() *chart.Figure {
	const height, left, right, top, bottom = 290.0, 16.0, 708.0, 26.0, 280.0
	s := chart.New(760, height)
	axes := len(f.drawn) + 1
	x := func(k int) float64 { return left + float64(k)*(right-left)/float64(max(axes-1, 1)) }
	tenth := max(1, len(f.ranked)/10)
	line := func(e Evaluation) []chart.Point {
		var points []chart.Point
		for k, p := range f.drawn {
			i := slices.IndexFunc(p.Values, func(v any) bool { return space.Same(v, e.Point[p.Name]) })
			step := (bottom - top) / float64(len(p.Values))
			// Points with the same value are spread out, each line in its own lane.
			lane := (math.Mod(float64(e.N)*0.618034, 1) - 0.5) * min(0.5*step, 16)
			points = append(points, chart.At(x(k), bottom-(float64(i)+0.5)*step+lane))
		}
		return append(points, chart.At(x(axes-1), f.scale(bottom, top).Within(e.Value)))
	}
	step := max(1, len(f.ranked)/maxDots)
	for i := len(f.ranked) - 1; i >= tenth; i -= step {
		s.Line(chart.Rule, 1, line(f.ranked[i])...)
	}
	if d := f.Default; d.Status == OK {
		s.Dashes(chart.Ink, 1.5, line(d)...)
	}
	for i := tenth - 1; i >= 0; i-- {
		wide := 1.0
		tone := chart.Now
		if i == 0 {
			wide, tone = 2, chart.Good
		}
		s.Line(tone, wide, line(f.ranked[i])...)
	}
	for k, p := range f.drawn {
		f.axis(s, p, x(k), top, bottom, (right-left)/float64(max(axes-1, 1)))
	}
	s.Line(chart.Soft, 1, chart.At(right, top), chart.At(right, bottom))
	s.Write(chart.Ink, chart.At(right, 12), chart.Label{Text: "time", Bold: true})
	for _, e := range []Evaluation{f.ranked[0], f.ranked[len(f.ranked)-1]} {
		s.Write(chart.Soft, chart.At(right+4, f.scale(bottom, top).Within(e.Value)+3), chart.Label{Text: words.Quantity(e.Value, "ns"), Align: chart.Start, Most: 48})
	}
	return &chart.Figure{Drawing: s.HTML(), Caption: f.tenthWords(tenth)}
}

// axis draws the axis of a parameter with its values.
func (f *frame) axis(s *chart.Drawing, p space.Parameter, x, top, bottom, room float64) {
	s.Line(chart.Soft, 1, chart.At(x, top), chart.At(x, bottom))
	align := 0
	if x < 60 {
		align, x = -1, x-10
	}
	s.Write(chart.Ink, chart.At(x, 12), chart.Label{Text: p.Name, Align: align, Mono: true, Most: room - 8})
	if align < 0 {
		x += 10
	}
	each := 1 + (len(p.Values)-1)/12
	for i, v := range p.Values {
		if i%each == 0 {
			y := bottom - (float64(i)+0.5)*(bottom-top)/float64(len(p.Values))
			s.Write(chart.Ink, chart.At(x+5, y+3), chart.Label{Text: valueText(v), Align: chart.Start, Most: room - 10})
		}
	}
}

// tenthWords says what the best points have in common.
func (f *frame) tenthWords(tenth int) string {
	var list []string
	for _, p := range f.drawn {
		counts := map[string]int{}
		for _, e := range f.ranked[:tenth] {
			counts[valueText(e.Point[p.Name])]++
		}
		value, most := "", 0
		for _, v := range p.Values {
			if n := counts[valueText(v)]; n > most {
				value, most = valueText(v), n
			}
		}
		all := 0
		for _, e := range f.ranked {
			if valueText(e.Point[p.Name]) == value {
				all++
			}
		}
		if here, there := float64(most)/float64(tenth), float64(all)/float64(len(f.ranked)); here >= 0.6 && here > there+0.1 {
			list = append(list, fmt.Sprintf("%s %s in %d of %d", p.Name, value, most, tenth))
		}
	}
	text := fmt.Sprintf("Each line is a point that worked, from its values to its time; the fastest are at the bottom. Blue: the best tenth (%d). Green: the best. Dashed: the defaults.", tenth)
	if len(list) > 0 {
		text += " The best tenth has " + strings.Join(list, ", ") + ", more often than the rest."
	}
	return words.Sanitize(text)
}

// strip draws the evaluations grouped by the values of one parameter.
func (f *frame) strip(p space.Parameter) chart.Figure {
	const width, height, left, right, top, bottom = 260.0, 152.0, 36.0, 254.0, 18.0, 134.0
	s := chart.New(width, height)
	f.timeAxis(s, left, right, bottom, top, 3)
	column := (right - left) / float64(len(p.Values))
	own := f.point[p.Name]
	var best, worst string
	fastest, slowest := math.Inf(1), 0.0
	for i, v := range p.Values {
		middle := left + (float64(i)+0.5)*column
		values, lost := f.timesWith(p.Name, v)
		f.box(s, values, middle, min(column*0.7, 34), bottom, top)
		if lost > 0 {
			s.Write(chart.Bad, chart.At(middle, top-8), chart.Label{Text: fmt.Sprint(lost), Most: column})
		}
		tone := chart.Soft
		if len(values) > 0 {
			tone = chart.Ink
			median := stats.Median(values)
			if median < fastest {
				fastest, best = median, valueText(v)
			}
			if median > slowest {
				slowest, worst = median, valueText(v)
			}
		}
		if each := 1 + (len(p.Values)-1)/12; i%each == 0 {
			s.Write(tone, chart.At(middle, bottom+13), chart.Label{Text: valueText(v), Bold: own != nil && space.Same(own, v), Most: column*float64(each) - 2})
		}
	}
	s.Line(chart.Rule, 1, chart.At(left, bottom), chart.At(right, bottom))
	caption := p.Name
	if best != "" && best != worst {
		caption += fmt.Sprintf(": medians from %s with %s to %s with %s", words.Quantity(fastest, "ns"), best, words.Quantity(slowest, "ns"), worst)
	}
	return chart.Figure{Drawing: s.HTML(), Caption: words.Sanitize(caption) + "."}
}

// timesWith returns the times of points with a value, and how many such points failed.
func (f *frame) timesWith(name string, v any) (values []float64, failed int) {
	for _, e := range f.Evaluations {
		switch {
		case !space.Same(e.Point[name], v):
		case e.Status == OK:
			values = append(values, e.Value)
		default:
			failed++
		}
	}
	return values, failed
}

// box draws the interquartile range, the median and the dots of the given times.
func (f *frame) box(s *chart.Drawing, values []float64, middle, width, bottom, top float64) {
	if len(values) >= 4 {
		low, high := f.scale(bottom, top).Within(stats.Quantile(values, 0.25)), f.scale(bottom, top).Within(stats.Quantile(values, 0.75))
		s.Bar(chart.Rule, middle-width/2, high, width, max(low-high, 1))
	}
	step := max(1, len(values)/150)
	for i := 0; i < len(values); i += step {
		lane := (math.Mod(float64(i)*0.618034, 1) - 0.5) * width * 0.8
		s.Dot(chart.Now, chart.At(middle+lane, f.scale(bottom, top).Within(values[i])), 1.3, false)
	}
	if len(values) > 0 {
		y := f.scale(bottom, top).Within(stats.Median(values))
		s.Line(chart.Ink, 1.5, chart.At(middle-width/2, y), chart.At(middle+width/2, y))
	}
}
