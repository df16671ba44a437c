package report

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// html renders the drawing as part of a page, in the colors of the page's style.
func (d *drawing) html() template.HTML {
	s := newSVG(d.width, d.height)
	d.svg(s)
	return s.html()
}

// document renders the drawing as a standalone file, with its style for light and dark mode
// and a text description.
func (d *drawing) document(title, about string) string {
	s := &svg{}
	s.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="t a">`,
		coord(d.width), coord(d.height), coord(2*d.width), coord(2*d.height))
	s.addf(`<title id="t">%s</title><desc id="a">`, template.HTMLEscapeString(title))
	_ = xml.EscapeText(&s.b, []byte(about)) // a Builder does not fail
	s.addf("</desc>")
	s.addf("<style>%s</style>", aloneStyle())
	s.addf(`<rect class="page" width="%s" height="%s"/>`, coord(d.width), coord(d.height))
	d.svg(s)
	return s.b.String() + "</svg>\n"
}

// aloneStyle returns the part of the page's style that drawings use.
func aloneStyle() string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(pageStyle) {
		switch strings.TrimSpace(line) {
		case "/* drawings */":
			in = true
		case "/* end of drawings */":
			in = false
		default:
			if in {
				b.WriteString(line)
			}
		}
	}
	colors, _, _ := strings.Cut(pageStyle, "* { box-sizing")
	return "\n" + colors + "svg text { font: 11px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", sans-serif; }\n.page { fill: var(--card); }\n" + b.String()
}

func (d *drawing) svg(s *svg) {
	for _, m := range d.marks {
		name := toneNames[m.tone]
		switch m.kind {
		case markLine:
			s.addf(`<path class="k t-%s w%s%s" d="%s"/>`, name, widthName(m.wide), map[bool]string{true: " dash"}[m.dashed], pathOf(m.points, false))
		case markArea:
			s.addf(`<path class="f t-%s" d="%s"/>`, name, pathOf(m.points, true))
		case markDot:
			class, radius := "f", m.wide
			if m.hollow {
				class, radius = "o", m.wide-0.8 // its outline is 1.6 wide, half of it outside
			}
			s.addf(`<circle class="%s t-%s" cx="%s" cy="%s" r="%s"/>`, class, name, coord(m.points[0].x), coord(m.points[0].y), coord(radius))
		case markWord:
			s.word(m.points[0], name, m.word)
		}
	}
}

// word writes text with its layout as classes, because the page's policy allows no inline
// styles.
func (s *svg) word(at point, tone string, w word) {
	class := []string{"f", "t-" + tone}
	for _, c := range []struct {
		is   bool
		name string
	}{{w.small, "small"}, {w.bold, "b"}, {w.mono, "mono"}, {w.halo, "halo"}, {w.anchor == atMiddle, "c"}, {w.anchor == atEnd, "e"}} {
		if c.is {
			class = append(class, c.name)
		}
	}
	s.addf(`<text x="%s" y="%s" class="%s"`, coord(at.x), coord(at.y), strings.Join(class, " "))
	if w.angle != 0 {
		s.addf(` transform="rotate(%s %s %s)"`, coord(w.angle), coord(at.x), coord(at.y))
	}
	s.addf(`>%s</text>`, template.HTMLEscapeString(w.text))
}

// widthName returns the class of a line width: 1, 15 for 1.5, 2.
func widthName(wide float64) string {
	return strings.ReplaceAll(coord(wide), ".", "")
}

func pathOf(points []point, closed bool) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteString(move(p.x, p.y))
		} else {
			fmt.Fprintf(&b, "L%s %s", coord(p.x), coord(p.y))
		}
	}
	if closed {
		b.WriteByte('z')
	}
	return b.String()
}

// slope returns the angle of a line in degrees, in the SVG direction.
func slope(from, to point) float64 { return math.Atan2(to.y-from.y, to.x-from.x) * 180 / math.Pi }
