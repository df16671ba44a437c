package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// SVG is a figure being written in the classes of the page around it. Its text is escaped;
// classes and paths must be pawl's own.
type SVG struct {
	Width, Height float64
	b             strings.Builder
}

// NewSVG starts a figure of a page. The page describes it in words next to it, for screen
// readers.
func NewSVG(class string, width, height float64) *SVG {
	s := &SVG{Width: width, Height: height}
	s.Addf(`<svg%s viewBox="0 0 %s %s" aria-hidden="true">`, attribute("class", class), Coord(width), Coord(height))
	return s
}

// NewFile starts a standalone file with its own style and a text description. It is shown at
// scale times its size.
func NewFile(width, height, scale float64, title, about, style string) *SVG {
	s := &SVG{Width: width, Height: height}
	s.Addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="t a">`,
		Coord(width), Coord(height), Coord(scale*width), Coord(scale*height))
	s.Addf(`<title id="t">%s</title><desc id="a">%s</desc><style>%s</style>`, escaped(title), escaped(about), style)
	s.Addf(`<rect class="page" width="%s" height="%s"/>`, Coord(width), Coord(height))
	return s
}

func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + value + `"`
}

// escaped escapes text for HTML and XML, without the characters that XML cannot contain.
func escaped(text string) string {
	return template.HTMLEscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text))
}

// Addf writes markup.
func (s *SVG) Addf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// Path draws lines or areas; d is in SVG path syntax. An empty path is left out.
func (s *SVG) Path(class, d string) {
	if d != "" {
		s.Addf(`<path class="%s" d="%s"/>`, class, d)
	}
}

// Text writes text with its baseline at a position. Class "e" ends it there, "c" centers
// it.
func (s *SVG) Text(x, y float64, class, text string) {
	s.Addf(`<text x="%s" y="%s"%s>%s</text>`, Coord(x), Coord(y), attribute("class", class), escaped(text))
}

// Dot draws a circle.
func (s *SVG) Dot(class string, x, y, radius float64) {
	s.Addf(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, Coord(x), Coord(y), Coord(radius))
}

// HTML ends the figure of a page.
func (s *SVG) HTML() template.HTML {
	return template.HTML(s.b.String() + "</svg>") //nolint:gosec // text in it was escaped
}

// File ends a standalone file.
func (s *SVG) File() string { return s.b.String() + "</svg>\n" }

// Coord formats a coordinate to a tenth of a pixel: pages stay small, and all machines write
// the same digits.
func Coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// Move returns the start of a path.
func Move(x, y float64) string { return "M" + Coord(x) + " " + Coord(y) }

// Box returns the path of a rectangle.
func Box(left, top, right, bottom float64) string {
	return Move(left, top) + "H" + Coord(right) + "V" + Coord(bottom) + "H" + Coord(left) + "Z"
}

// Trace is a path through points.
type Trace struct {
	b    strings.Builder
	down bool
}

// To continues the line to a point, or starts it there.
func (t *Trace) To(x, y float64) {
	letter := byte('L')
	if !t.down {
		letter, t.down = 'M', true
	}
	t.b.WriteByte(letter)
	t.b.WriteString(Coord(x) + " " + Coord(y))
}

// Lift ends a line: the next point starts another one.
func (t *Trace) Lift() { t.down = false }

// String returns the path.
func (t *Trace) String() string { return t.b.String() }

// Rows draws lines across the figure at round values of a vertical scale, with the values and
// their unit left of them.
func (s *SVG) Rows(y Scale, left, right float64, n int, unit string) {
	marks := y.Ticks(n)
	texts, shown := TickTexts(marks, unit)
	for i, m := range marks {
		s.Path("grid", Move(left, y.At(m))+"H"+Coord(right))
		s.Text(left-5, y.At(m)+4, "e", texts[i])
	}
	s.Text(left-5, 10, "e", shown)
}
