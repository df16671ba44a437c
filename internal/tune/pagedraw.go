package tune

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/stats"
)

const (
	maxDots = 800 // in a figure: more only make it large
	maxAxes = 12  // max number of parameters drawn
)

// draw makes the figures.
func (v *pageView) draw(s *Suggestions) {
	ranked := Ranked(s.Evaluations)
	if len(ranked) == 0 {
		return
	}
	f := newFrame(s, ranked)
	v.Progress = []chart.Figure{f.progress(false), f.progress(true)}
	if len(s.Importance.Effects) > 0 {
		bars := drawImportance(s.Importance)
		v.Bars = &bars
	}
	if len(ranked) >= 5 {
		v.Parallel = f.parallel()
		for _, p := range f.drawn {
			v.Strips = append(v.Strips, f.strip(p))
		}
	}
}

// frame holds what all figures of a search share: the range of times, and the parameters
// drawn.
type frame struct {
	*Suggestions
	ranked    []Evaluation
	low, high float64
	drawn     []space.Parameter // most important first
}

func newFrame(s *Suggestions, ranked []Evaluation) *frame {
	f := &frame{Suggestions: s, ranked: ranked}
	var values []float64
	for _, e := range ranked {
		values = append(values, e.Value)
	}
	f.low, f.high = slices.Min(values), stats.Quantile(values, 0.95)
	if d := s.Default; d.Status == OK {
		f.high = max(f.high, d.Value)
	}
	room := math.Pow(max(f.high/f.low, 1.02), 0.06)
	f.low, f.high = f.low/room, f.high*room
	for _, e := range s.Importance.Effects {
		i := slices.IndexFunc(s.Header.Space.Parameters, func(p space.Parameter) bool { return p.Name == e.Name })
		if i >= 0 {
			f.drawn = append(f.drawn, s.Header.Space.Parameters[i])
		}
	}
	if len(f.drawn) == 0 {
		f.drawn = slices.DeleteFunc(slices.Clone(s.Header.Space.Parameters), func(p space.Parameter) bool { return len(p.Values) < 2 })
	}
	f.drawn = f.drawn[:min(len(f.drawn), maxAxes)]
	for i := range f.drawn {
		f.drawn[i].Values = space.Sorted(f.drawn[i].Values)
	}
	return f
}

// scale returns the scale of times between the bottom and the top of a figure. It is
// logarithmic; slower times than those shown are at the top.
func (f *frame) scale(bottom, top float64) chart.Scale {
	return chart.Scale{Low: f.low, High: f.high, From: bottom, To: top, Log: true}
}

// timeAxis draws lines at round times and labels them on the left.
func (f *frame) timeAxis(s *chart.Drawing, left, right, bottom, top float64, n int) {
	scale := f.scale(bottom, top)
	marks := scale.Ticks(n)
	if f.high/f.low <= 6 { // hardly any power of ten
		marks = chart.Ticks(f.low, f.high, n)
	}
	texts, unit := chart.TickTexts(marks, "ns")
	for i, m := range marks {
		y := scale.Within(m)
		s.Line(chart.Faint, 1, chart.At(left, y), chart.At(right, y))
		if y > top+8 {
			s.Write(chart.Soft, chart.At(left-5, y+3), chart.Label{Text: texts[i], Align: chart.End})
		}
	}
	s.Write(chart.Soft, chart.At(left-5, top+3), chart.Label{Text: unit, Align: chart.End})
}

// elapsed returns when each evaluation finished, in seconds from the start. It caps gaps
// between sessions: an evaluation takes little longer than its build, check and
// measurement.
func (f *frame) elapsed() []float64 {
	out := make([]float64, len(f.Evaluations))
	total := 0.0
	for i, e := range f.Evaluations {
		took := e.Seconds()
		if i > 0 && !e.At.IsZero() && !f.Evaluations[i-1].At.IsZero() {
			took = min(max(e.At.Sub(f.Evaluations[i-1].At).Seconds(), 0), 1.5*took+1)
		}
		total += took
		out[i] = total
	}
	return out
}

// progress draws every evaluation and the best so far, over their number or over time.
func (f *frame) progress(overTime bool) chart.Figure {
	const height, left, right, top, bottom = 220.0, 40.0, chart.PhoneWidth - 10, 22.0, 186.0
	s := chart.New(chart.PhoneWidth, height)
	f.timeAxis(s, left, right, bottom, top, 5)
	xs := f.elapsed()
	if !overTime {
		for i := range xs {
			xs[i] = float64(i + 1)
		}
	}
	most := max(xs[len(xs)-1], 1e-9)
	x := func(i int) float64 { return left + xs[i]/most*(right-left) }
	step := max(1, len(f.Evaluations)/maxDots)
	for i := 0; i < len(f.Evaluations); i += step {
		if e := f.Evaluations[i]; e.Status == OK {
			s.Dot(chart.Base, chart.At(x(i), f.scale(bottom, top).Within(e.Value)), 1.5, false)
		} else {
			s.Line(chart.Bad, 1, chart.At(x(i), top-8), chart.At(x(i), top-3))
		}
	}
	if d := f.Default; d.Status == OK { // on top of the dots
		y := f.scale(bottom, top).Within(d.Value)
		s.Dashes(chart.Ink, 1, chart.At(left, y), chart.At(right, y))
		s.Write(chart.Ink, chart.At(right, y-4), chart.Label{Text: "default", Align: chart.End})
	}
	line, least, half := f.bestSoFar(x, bottom, top)
	s.Line(chart.Now, 2, line...)
	s.Line(chart.Rule, 1, chart.At(left, bottom), chart.At(right, bottom))
	marks := chart.Ticks(0, most, 5)
	for _, m := range marks {
		s.Write(chart.Soft, chart.At(min(left+m/most*(right-left), right-6), bottom+13), chart.Label{Text: fmt.Sprintf("%g", m)})
	}
	unit := "evaluations"
	if overTime {
		unit = "seconds"
	}
	s.Write(chart.Soft, chart.At(right, bottom+27), chart.Label{Text: unit, Align: chart.End})
	caption := fmt.Sprintf("Best time so far over %s, ending at %s", unit, words.Quantity(least, "ns"))
	if d := f.Default; d.Status == OK {
		caption += fmt.Sprintf("; the defaults took %s", words.Quantity(d.Value, "ns"))
	}
	if half >= 0 {
		caption += map[bool]string{
			true:  fmt.Sprintf("; half of the gain was reached after %s", span(xs[half])),
			false: fmt.Sprintf("; half of the gain was reached after %.0f evaluations", xs[half]),
		}[overTime]
	}
	caption += ". Gray dots are evaluations; those beyond the top are drawn at the top"
	if len(f.Failures) > 0 {
		caption += "; red marks above are failures"
	}
	return chart.Figure{Drawing: s.HTML(), Caption: caption + "."}
}

// bestSoFar returns the stepped line of the best time and the final best time. Half is the
// first evaluation that reached half of the gain over the defaults; -1 for none.
func (f *frame) bestSoFar(x func(int) float64, bottom, top float64) (line []chart.Point, least float64, half int) {
	least, half = math.Inf(1), -1
	var values []float64
	for i, e := range f.Evaluations {
		if e.Status == OK && e.Value < least && (!e.Lost || math.IsInf(least, 1)) {
			if len(line) > 0 {
				line = append(line, chart.At(x(i), line[len(line)-1].Y))
			}
			least = e.Value
			line = append(line, chart.At(x(i), f.scale(bottom, top).Within(least)))
		}
		values = append(values, least)
	}
	if len(line) > 0 {
		line = append(line, chart.At(x(len(values)-1), line[len(line)-1].Y))
	}
	if d := f.Default; d.Status == OK && least < d.Value {
		half = slices.IndexFunc(values, func(v float64) bool { return v <= (d.Value+least)/2 })
	}
	return line, least, half
}
