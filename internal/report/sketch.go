package report

import "html/template"

// Sketch is a figure that another package draws for its own page. It uses the colors and
// fonts of pawl's pages and is as wide as a phone.
type Sketch struct{ d drawing }

// SketchWidth is the width of a figure that must be readable on the smallest screen.
const SketchWidth = drawingWidth

// NewSketch starts a figure of the given size.
func NewSketch(width, height float64) *Sketch { return &Sketch{drawing{width: width, height: height}} }

// Place is a position in a figure; X grows to the right, Y down.
type Place struct{ X, Y float64 }

// Tone is the meaning of a color. Light and dark pages map it to their own color.
type Tone int

// The tones of a figure.
const (
	Ink   = Tone(toneInk)
	Soft  = Tone(toneSoft)
	Rule  = Tone(toneLine)
	Faint = Tone(toneFaint)
	Base  = Tone(toneBase)
	Now   = Tone(toneNow)
	Other = Tone(toneRef) // a third kind, besides base and now
	Bad   = Tone(toneBad)
	Good  = Tone(toneGood)
)

// Line draws a line through points; wide is 1, 1.5 or 2.
func (s *Sketch) Line(t Tone, wide float64, points ...Place) {
	s.d.line(tone(t), wide, places(points)...)
}

// Dashes draws a dashed line.
func (s *Sketch) Dashes(t Tone, wide float64, points ...Place) {
	s.d.dashedLine(tone(t), wide, places(points)...)
}

// Bar draws a filled box.
func (s *Sketch) Bar(t Tone, x, y, width, height float64) { s.d.bar(tone(t), x, y, width, height) }

// Dot draws a circle, filled or hollow.
func (s *Sketch) Dot(t Tone, at Place, radius float64, hollow bool) {
	s.d.dot(tone(t), at.place(), radius, hollow)
}

// Arrow draws a line with a head at its end.
func (s *Sketch) Arrow(t Tone, from, to Place) { s.d.arrow(tone(t), from.place(), to.place(), 0) }

// Label is a text and its layout. A negative Align puts its start at the place, 0 its
// middle, a positive one its end. Text wider than Most loses its middle; 0 means no limit.
// Text is small unless Heading is set.
type Label struct {
	Text    string
	Align   int
	Mono    bool
	Bold    bool
	Heading bool
	Most    float64
}

// Write draws text with its baseline at a place.
func (s *Sketch) Write(t Tone, at Place, l Label) {
	w := l.word()
	w.halo = true
	if l.Most > 0 {
		w.text = elideMiddleAt(w.face(), w.size(), w.text, l.Most)
	}
	switch {
	case l.Align == 0:
		w.anchor = atMiddle
	case l.Align > 0:
		w.anchor = atEnd
	}
	s.d.write(tone(t), at.place(), w)
}

// Width returns the width of a label.
func (l Label) Width() float64 { return l.word().width() }

func (l Label) word() word {
	return word{text: drawable(l.Text), small: !l.Heading, mono: l.Mono, bold: l.Bold}
}

// SmallLines breaks text into lines of small text of limited width. Text beyond the max
// number of lines is cut and marked as cut.
func SmallLines(text string, most float64, atMost int) []string {
	return lines(emSmall, drawable(text), most, atMost)
}

// HTML renders the figure as part of a page. The page must describe it in words next to it.
func (s *Sketch) HTML() template.HTML { return s.d.html() }

// SVG renders the figure as a standalone file for light and dark mode, with a description
// in words.
func (s *Sketch) SVG(title, about string) string { return s.d.document(title, about) }

func (p Place) place() point { return point{p.X, p.Y} }

func places(list []Place) []point {
	out := make([]point, len(list))
	for i, p := range list {
		out[i] = p.place()
	}
	return out
}

// PageStyle returns the style sheet of pawl's pages.
func PageStyle() string { return pageStyle }

// PagePolicy returns a policy that allows only this style: no script, no network.
func PagePolicy(style string) string { return policy(style, "") }

// ScriptedPolicy returns a policy that allows only this style and this script.
func ScriptedPolicy(style, script string) string { return policy(style, script) }

// TickTexts formats the ticks of an axis in one unit and returns that unit.
func TickTexts(marks []float64, unit string) (texts []string, shown string) {
	return tickText(marks, unit)
}

// Ticks returns round values that divide a range into about n parts.
func Ticks(low, high float64, n int) []float64 { return ticks(low, high, n) }
