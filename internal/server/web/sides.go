package web

import (
	"html/template"

	"github.com/goatnote-inc/pawl/internal/base/chart"
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
	d := chart.NewSVG("chart sides", width, height)
	x := chart.Scale{Low: low - pad, High: high + pad, From: left, To: width - right}
	marks := x.Ticks(4)
	texts, unit := chart.TickTexts(marks, a.Series.Unit)
	for i, m := range marks {
		d.Path("grid", chart.Move(x.At(m), 14)+"V"+chart.Coord(height-24))
		d.Text(x.At(m), height-10, "c", texts[i])
	}
	d.Text(width-right, 10, "e", unit)
	for i, s := range []Side{a, b} {
		y := 36 + 34*float64(i)
		class := []string{"0", "1"}[i]
		d.Path("p m"+class, chart.Move(x.At(float64(s.Point.Low)), y)+"H"+chart.Coord(x.At(float64(s.Point.High))))
		d.Dot("s"+class+" ring", x.At(float64(s.Point.Value)), y, 6)
		d.Text(4, y+4, "label", []string{"A", "B"}[i])
	}
	return d.HTML()
}
