package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// historyDrawn is the max number of earlier values drawn.
const historyDrawn = 200

// drawHistory draws earlier values of a case, oldest on the left.
func drawHistory(points []Point, of string) template.HTML {
	const height, left, right, top, bottom = 110.0, 46.0, 8.0, 12.0, 22.0
	points = points[max(0, len(points)-historyDrawn):]
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	pad := max((high-low)*0.08, math.Abs(high)*0.002)
	low, high = low-pad, high+pad
	s := newSVG(drawingWidth, height)
	x := func(i int) float64 { return left + float64(i)/float64(max(len(points)-1, 1))*(drawingWidth-left-right) }
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(height-top-bottom) }
	marks := ticks(low, high, 2)
	texts, unit := tickText(marks, of)
	for i, m := range marks {
		s.path("grid", move(left, y(m))+"H"+coord(drawingWidth-right))
		s.text(left-5, y(m)+4, "e", texts[i])
	}
	s.text(left-5, 9, "e", unit)
	var d strings.Builder
	for i, p := range points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		d.WriteString(letter + coord(x(i)) + " " + coord(y(p.Value)))
	}
	s.path("line m1", d.String())
	s.text(left, height-5, "", points[0].At.UTC().Format("2006-01-02"))
	s.text(drawingWidth-right, height-5, "e", points[len(points)-1].At.UTC().Format("2006-01-02"))
	return s.html()
}

func describeHistory(c Case) string {
	first, last := c.History[0], c.History[len(c.History)-1]
	return fmt.Sprintf("%d earlier values, from %s at %s to %s at %s.", len(c.History),
		words.Quantity(first.Value, c.Unit), words.SanitizeTo(first.Commit, 12), words.Quantity(last.Value, c.Unit), words.SanitizeTo(last.Commit, 12))
}
