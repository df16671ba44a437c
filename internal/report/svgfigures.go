package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// drawingWidth is the width of a drawing: that of a phone, so that text stays readable on the
// smallest screen. Larger screens stretch it.
const drawingWidth = 340.0

// drawSamples draws the histograms of the sides above each other on one axis. The dashed
// line through all is the median of the first side.
func drawSamples(f *Figure) template.HTML {
	const rowHeight, gap, left, right = 46.0, 18.0, 8.0, 8.0
	height := float64(len(f.Sides))*(rowHeight+gap) + 24
	s := newSVG(drawingWidth, height)
	bins := len(f.Sides[0].Bins)
	end := f.Start + float64(bins)*f.Step
	x := func(v float64) float64 {
		return left + min(max((v-f.Start)/(end-f.Start), 0), 1)*(drawingWidth-left-right)
	}
	bottom := height - 20
	for i, side := range f.Sides {
		base := float64(i+1) * (rowHeight + gap)
		s.drawBins(f.tone(i), side, left, drawingWidth-left-right, base, rowHeight)
		s.text(left, base-rowHeight-4, "label", side.Name)
		s.text(drawingWidth-right, base-rowHeight-4, "e", "median "+words.Quantity(side.Median, f.Unit)+beyond(side, f.Unit))
		s.path("axis", move(left, base)+"H"+coord(drawingWidth-right))
		s.path("mid", move(x(side.Median), base-rowHeight)+"V"+coord(base+3))
	}
	if len(f.Sides) > 1 {
		s.path("through", move(x(f.Sides[0].Median), rowHeight+gap)+"V"+coord(bottom))
	}
	marks := ticks(f.Start, end, 4)
	texts, unit := tickText(marks, f.Unit)
	for i, m := range marks {
		if px := x(m); px > left+12 && px < drawingWidth-right-34 {
			s.path("axis", move(px, bottom)+"v4")
			s.text(px, bottom+15, "c", texts[i])
		}
	}
	s.text(drawingWidth-right, bottom+15, "e", unit)
	return s.html()
}

func beyond(d Distribution, unit string) string {
	if d.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf(", %d up to %s", d.Beyond, words.Quantity(d.Max, unit))
}

// drawBins draws all bars of a side as one path: their outline, from left to right.
func (s *svg) drawBins(tone int, side Distribution, left, width, base, height float64) {
	most := 0
	for _, n := range side.Bins {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	var d strings.Builder
	d.WriteString(move(left, base))
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
	s.path(fmt.Sprintf("s%d", tone), d.String())
}

// drawRounds draws the medians of the sides by round. The two sides of a round are
// connected, because they share the same conditions.
func drawRounds(f *Figure) template.HTML {
	const height, left, right, top, bottom = 152.0, 46.0, 8.0, 18.0, 26.0
	s := newSVG(drawingWidth, height)
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.Rounds {
		for _, m := range r.Medians {
			if !math.IsNaN(m) {
				low, high = min(low, m), max(high, m)
			}
		}
	}
	pad := max((high-low)*0.08, math.Abs(high)*0.002, math.SmallestNonzeroFloat64)
	low, high = low-pad, high+pad
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(height-top-bottom) }
	x := func(i int) float64 { return left + (float64(i)+0.5)/float64(len(f.Rounds))*(drawingWidth-left-right) }
	marks := ticks(low, high, 3)
	texts, unit := tickText(marks, f.Unit)
	for i, m := range marks {
		s.path("grid", move(left, y(m))+"H"+coord(drawingWidth-right))
		s.text(left-5, y(m)+4, "e", texts[i])
	}
	s.text(left-5, 10, "e", unit)
	s.legend(f, left+8)
	s.path("pair", pairLines(f, x, y))
	for side := range f.Sides {
		var d strings.Builder
		for i, r := range f.Rounds {
			if v := r.Medians[side]; !math.IsNaN(v) {
				d.WriteString(move(x(i)+sideOffset(side), y(v)) + "h0") // a zero-length line with round ends
			}
		}
		s.path(fmt.Sprintf("p m%d", f.tone(side)), d.String())
	}
	s.text(left, height-6, "", fmt.Sprintf("round %d", f.Rounds[0].Round+1))
	s.text(drawingWidth-right, height-6, "e", fmt.Sprintf("%d", f.Rounds[len(f.Rounds)-1].Round+1))
	return s.html()
}

// sideOffset offsets the sides so that equal medians do not hide each other.
func sideOffset(side int) float64 { return float64(min(side, 3))*4 - 2 }

func (s *svg) legend(f *Figure, x float64) {
	for i, side := range f.Sides {
		s.path(fmt.Sprintf("p m%d", f.tone(i)), move(x, 6)+"h0")
		name := words.SanitizeTo(side.Name, 14)
		s.text(x+8, 10, "label", name)
		x += 22 + 6.2*float64(len([]rune(name)))
	}
}

func pairLines(f *Figure, x func(int) float64, y func(float64) float64) string {
	if len(f.Sides) < 2 {
		return ""
	}
	var d strings.Builder
	for i, r := range f.Rounds {
		if a, b := r.Medians[0], r.Medians[1]; !math.IsNaN(a) && !math.IsNaN(b) {
			d.WriteString(move(x(i)+sideOffset(0), y(a)) + "L" + coord(x(i)+sideOffset(1)) + " " + coord(y(b)))
		}
	}
	return d.String()
}
