package web

import (
	"html/template"
	"strconv"
	"strings"
)

// drawing writes SVG. It contains only numbers, fixed classes, and text that it escapes.
type drawing struct {
	strings.Builder
	width, height float64
}

func newDrawing(class string, width, height float64) *drawing {
	d := &drawing{width: width, height: height}
	d.WriteString(`<svg class="` + class + `" viewBox="0 0 ` + coord(width) + " " + coord(height) + `" aria-hidden="true" focusable="false">`)
	return d
}

func (d *drawing) path(class, data string) {
	if data != "" {
		d.WriteString(`<path class="` + class + `" d="` + data + `"/>`)
	}
}

func (d *drawing) text(x, y float64, class, text string) {
	d.WriteString(`<text class="` + class + `" x="` + coord(x) + `" y="` + coord(y) + `">` + template.HTMLEscapeString(text) + `</text>`)
}

func (d *drawing) dot(class string, x, y, radius float64) {
	d.WriteString(`<circle class="` + class + `" cx="` + coord(x) + `" cy="` + coord(y) + `" r="` + coord(radius) + `"/>`)
}

func (d *drawing) html() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // see drawing
}

func coord(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0")
}

func move(x, y float64) string { return "M" + coord(x) + " " + coord(y) }

// rect returns a rectangle.
func rect(left, right, top, bottom float64) string {
	return move(left, top) + "H" + coord(right) + "V" + coord(bottom) + "H" + coord(left) + "Z"
}

// trace is a line through points.
type trace struct {
	strings.Builder
	begun bool
}

func (t *trace) to(x, y float64) {
	letter := byte('L')
	if !t.begun {
		letter, t.begun = 'M', true
	}
	t.WriteByte(letter)
	t.WriteString(coord(x) + " " + coord(y))
}

// lift ends a segment: the next point starts another one.
func (t *trace) lift() { t.begun = false }
