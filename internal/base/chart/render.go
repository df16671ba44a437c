package chart

import (
	_ "embed" // embeds the style
	"html/template"
	"strings"
)

// Style is the style sheet of drawings: the colors of light and dark pages, and after the
// line "/* drawings */" the classes of their marks.
//
//go:embed style.css
var Style string

// toneNames are the CSS classes of the tones.
var toneNames = [...]string{"ink", "soft", "line", "faint", "base", "now", "ref", "bad", "good", "open"}

// Figure is a drawing of a page with a description in words, for readers who cannot see it.
type Figure struct {
	Drawing template.HTML
	Caption string
}

// HTML renders the figure as part of a page, in the colors of the page's style. The page
// must describe it in words next to it.
func (d *Drawing) HTML() template.HTML {
	s := NewSVG("", d.Width, d.Height)
	d.render(s)
	return s.HTML()
}

// SVG renders the figure as a standalone file for light and dark mode, with a description
// in words.
func (d *Drawing) SVG(title, about string) string { return d.File(2, title, about) }

// File is SVG at another scale: 1 is its own size.
func (d *Drawing) File(scale float64, title, about string) string {
	colors, marks, _ := strings.Cut(Style, "/* drawings */\n")
	const text = "svg text { font: 11px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", sans-serif; }\n.page { fill: var(--card); }\n"
	s := NewFile(d.Width, d.Height, scale, title, about, "\n"+colors+text+marks)
	d.render(s)
	return s.File()
}

func (d *Drawing) render(s *SVG) {
	for _, m := range d.marks {
		tone, at := " t-"+toneNames[m.tone], m.points[0]
		switch m.kind {
		case markLine:
			class := "k" + tone + " w" + strings.ReplaceAll(Coord(m.wide), ".", "") // w1, w15, w2
			if m.dashed {
				class += " dash"
			}
			s.Path(class, pathOf(m.points))
		case markArea:
			s.Path("f"+tone, pathOf(m.points)+"z")
		case markDot:
			if m.hollow { // its outline is 1.6 wide, half of it outside
				s.Dot("o"+tone, at.X, at.Y, m.wide-0.8)
			} else {
				s.Dot("f"+tone, at.X, at.Y, m.wide)
			}
		case markText:
			s.Addf(`<text x="%s" y="%s" class="f%s%s"`, Coord(at.X), Coord(at.Y), tone, m.layout())
			if a := m.label.Angle; a != 0 {
				s.Addf(` transform="rotate(%s %s %s)"`, Coord(a), Coord(at.X), Coord(at.Y))
			}
			s.Addf(`>%s</text>`, escaped(m.label.Text))
		}
	}
}

// layout returns the classes of a text, because the page's policy allows no inline styles.
func (m mark) layout() string {
	var b strings.Builder
	for _, c := range []struct {
		is   bool
		name string
	}{{m.label.size() == SmallText, " small"}, {m.label.Bold, " b"}, {m.label.Mono, " mono"}, {m.halo, " halo"}, {m.label.Align == Middle, " c"}, {m.label.Align > 0, " e"}} {
		if c.is {
			b.WriteString(c.name)
		}
	}
	return b.String()
}

func pathOf(points []Point) string {
	var t Trace
	for _, p := range points {
		t.To(p.X, p.Y)
	}
	return t.String()
}
