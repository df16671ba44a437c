package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// drawSamples draws the histograms of the sides above each other on one axis. The dashed
// line through all is the median of the first side.
func drawSamples(f *Figure) template.HTML {
	const rowHeight, gap, left, right = 46.0, 18.0, 8.0, 8.0
	height := float64(len(f.Sides))*(rowHeight+gap) + 24
	s := chart.NewSVG("", chart.PhoneWidth, height)
	x := chart.Scale{Low: f.Start, High: f.Start + float64(len(f.Sides[0].Bins))*f.Step, From: left, To: chart.PhoneWidth - right}
	bottom := height - 20
	for i, side := range f.Sides {
		base := float64(i+1) * (rowHeight + gap)
		drawBins(s, f.tone(i), side, left, chart.PhoneWidth-left-right, base, rowHeight)
		s.Text(left, base-rowHeight-4, "label", side.Name)
		s.Text(chart.PhoneWidth-right, base-rowHeight-4, "e", "median "+words.Quantity(side.Median, f.Unit)+beyond(side, f.Unit))
		s.Path("axis", chart.Move(left, base)+"H"+chart.Coord(chart.PhoneWidth-right))
		s.Path("mid", chart.Move(x.Within(side.Median), base-rowHeight)+"V"+chart.Coord(base+3))
	}
	if len(f.Sides) > 1 {
		s.Path("through", chart.Move(x.Within(f.Sides[0].Median), rowHeight+gap)+"V"+chart.Coord(bottom))
	}
	marks := x.Ticks(4)
	texts, unit := chart.TickTexts(marks, f.Unit)
	for i, m := range marks {
		if px := x.At(m); px > left+12 && px < chart.PhoneWidth-right-34 {
			s.Path("axis", chart.Move(px, bottom)+"v4")
			s.Text(px, bottom+15, "c", texts[i])
		}
	}
	s.Text(chart.PhoneWidth-right, bottom+15, "e", unit)
	return s.HTML()
}

func beyond(d Distribution, unit string) string {
	if d.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf(", %d up to %s", d.Beyond, words.Quantity(d.Max, unit))
}

// coord2 is for relative steps: rounding to a tenth would add up to pixels.
func coord2(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// drawBins draws all bars of a side as one path: their outline, from left to right.
func drawBins(s *chart.SVG, tone int, side Distribution, left, width, base, height float64) {
	most := 0
	for _, n := range side.Bins {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	var d strings.Builder
	d.WriteString(chart.Move(left, base))
	level, run := 0, 0
	step := func() {
		if run > 0 {
			d.WriteString("h" + coord2(float64(run)*width/float64(len(side.Bins))))
		}
		run = 0
	}
	for _, n := range append(slices.Clip(side.Bins), 0) {
		if tall := int(math.Ceil(height * float64(n) / float64(most))); tall != level {
			step()
			d.WriteString("V" + strconv.Itoa(int(base)-tall))
			level = tall
		}
		run++
	}
	s.Path(fmt.Sprintf("s%d", tone), d.String())
}

// drawRounds draws the medians of the sides by round. The two sides of a round are
// connected, because they share the same conditions.
func drawRounds(f *Figure) template.HTML {
	const height, left, right, top, bottom = 152.0, 46.0, 8.0, 18.0, 26.0
	s := chart.NewSVG("", chart.PhoneWidth, height)
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.Rounds {
		for _, m := range r.Medians {
			if !math.IsNaN(m) {
				low, high = min(low, m), max(high, m)
			}
		}
	}
	pad := max((high-low)*0.08, math.Abs(high)*0.002, math.SmallestNonzeroFloat64)
	x := chart.Scale{Low: -0.5, High: float64(len(f.Rounds)) - 0.5, From: left, To: chart.PhoneWidth - right}
	y := chart.Scale{Low: low - pad, High: high + pad, From: height - bottom, To: top}
	s.Rows(y, left, chart.PhoneWidth-right, 3, f.Unit)
	drawLegend(s, f, left+8)
	s.Path("pair", pairLines(f, x, y))
	for side := range f.Sides {
		var d strings.Builder
		for i, r := range f.Rounds {
			if v := r.Medians[side]; !math.IsNaN(v) {
				d.WriteString(chart.Move(x.At(float64(i))+sideOffset(side), y.At(v)) + "h0") // a zero-length line with round ends
			}
		}
		s.Path(fmt.Sprintf("p m%d", f.tone(side)), d.String())
	}
	s.Text(left, height-6, "", fmt.Sprintf("round %d", f.Rounds[0].Round+1))
	s.Text(chart.PhoneWidth-right, height-6, "e", fmt.Sprintf("%d", f.Rounds[len(f.Rounds)-1].Round+1))
	return s.HTML()
}

// sideOffset offsets the sides so that equal medians do not hide each other.
func sideOffset(side int) float64 { return float64(min(side, 3))*4 - 2 }

func drawLegend(s *chart.SVG, f *Figure, x float64) {
	for i, side := range f.Sides {
		s.Path(fmt.Sprintf("p m%d", f.tone(i)), chart.Move(x, 6)+"h0")
		name := words.SanitizeTo(side.Name, 14)
		s.Text(x+8, 10, "label", name)
		x += 22 + 6.2*float64(len([]rune(name)))
	}
}

func pairLines(f *Figure, x, y chart.Scale) string {
	if len(f.Sides) < 2 {
		return ""
	}
	var d strings.Builder
	for i, r := range f.Rounds {
		if a, b := r.Medians[0], r.Medians[1]; !math.IsNaN(a) && !math.IsNaN(b) {
			at := x.At(float64(i))
			d.WriteString(chart.Move(at+sideOffset(0), y.At(a)) + "L" + chart.Coord(at+sideOffset(1)) + " " + chart.Coord(y.At(b)))
		}
	}
	return d.String()
}
