package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// svg is a drawing being written. It must contain only numbers and pawl's own words.
type svg struct{ b strings.Builder }

// newSVG starts a drawing. The page describes it in words next to it, for screen readers.
func newSVG(width, height float64) *svg {
	s := &svg{}
	s.addf(`<svg viewBox="0 0 %s %s" aria-hidden="true">`, coord(width), coord(height))
	return s
}

func (s *svg) addf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// path draws lines; d is in SVG path syntax.
func (s *svg) path(class, d string) {
	if d != "" {
		s.addf(`<path class="%s" d="%s"/>`, class, d)
	}
}

// text writes a word. Classes: "e" ends it at x, "c" centers it there, "label" highlights
// it.
func (s *svg) text(x, y float64, class, text string) {
	s.addf(`<text x="%s" y="%s"`, coord(x), coord(y))
	if class != "" {
		s.addf(` class="%s"`, class)
	}
	s.addf(`>%s</text>`, template.HTMLEscapeString(text))
}

func (s *svg) html() template.HTML {
	return template.HTML(s.b.String() + "</svg>") //nolint:gosec // text in it was escaped
}

// coord formats a coordinate to a tenth of a pixel, so that 1,000 cases fit on a page.
func coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// coord2 is for relative steps: rounding to a tenth would add up to pixels.
func coord2(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

func move(x, y float64) string { return "M" + coord(x) + " " + coord(y) }

// ticks returns round values that divide a range into about n parts.
func ticks(low, high float64, n int) []float64 {
	if !(high > low) || n < 1 || math.IsInf(high-low, 0) {
		return []float64{low}
	}
	raw := (high - low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	var list []float64
	for i := math.Ceil(low / step); i*step <= high+step*1e-9 && len(list) <= 2*n+2; i++ {
		list = append(list, i*step)
	}
	if len(list) == 0 {
		return []float64{low}
	}
	return list
}

// tickText formats the ticks of an axis in one unit, with as few digits as distinguish
// them.
func tickText(ticks []float64, unit string) (texts []string, shown string) {
	factor, name := 1.0, unit
	if unit == "ns" {
		largest := 0.0
		for _, t := range ticks {
			largest = max(largest, math.Abs(t))
		}
		switch {
		case largest >= 1e9:
			factor, name = 1e9, "s"
		case largest >= 1e6:
			factor, name = 1e6, "ms"
		case largest >= 1e3:
			factor, name = 1e3, "us"
		}
	}
	for decimals := range 7 {
		texts = texts[:0]
		seen := map[string]bool{}
		exact := true
		for _, t := range ticks {
			text := strconv.FormatFloat(t/factor, 'f', decimals, 64)
			back, _ := strconv.ParseFloat(text, 64)
			exact = exact && math.Abs(back-t/factor) <= 1e-6*math.Abs(t/factor)
			seen[text] = true
			texts = append(texts, text)
		}
		if len(seen) == len(ticks) && exact {
			break
		}
	}
	return texts, name
}
