package web

import (
	"html/template"

	"github.com/goatnote-inc/pawl/internal/report"
)

// drawSides draws the values and the intervals of two points on one scale.
func drawSides(a, b Side) template.HTML {
	const width, height, left, right = 360.0, 112.0, 20.0, 12.0
	low := min(float64(a.Point.Low), float64(b.Point.Low))
	high := max(float64(a.Point.High), float64(b.Point.High))
	if !(high > low) {
		high = low + 1
	}
	pad := (high - low) * 0.08
	low, high = low-pad, high+pad
	d := newDrawing("chart sides", width, height)
	x := func(v float64) float64 { return left + (v-low)/(high-low)*(width-left-right) }
	marks := report.Ticks(low, high, 4)
	texts, unit := report.TickTexts(marks, a.Series.Unit)
	for i, m := range marks {
		d.path("grid", move(x(m), 14)+"V"+coord(height-24))
		d.text(x(m), height-10, "c", texts[i])
	}
	d.text(width-right, 10, "e", unit)
	for i, s := range []Side{a, b} {
		y := 36 + 34*float64(i)
		class := []string{"0", "1"}[i]
		d.path("p m"+class, move(x(float64(s.Point.Low)), y)+"H"+coord(x(float64(s.Point.High))))
		d.dot("s"+class+" ring", x(float64(s.Point.Value)), y, 6)
		d.text(4, y+4, "label", []string{"A", "B"}[i])
	}
	return d.html()
}
