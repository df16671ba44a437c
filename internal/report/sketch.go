package report

import "html/template"

// Sketch is a figure that another package draws for a page of its own: in the colours and
// the type of pawl's pages, and as wide as a phone.
type Sketch struct{ d drawing }

// SketchWidth is how wide a figure is that is to be read on the smallest screen.
const SketchWidth = drawn

// NewSketch begins a figure of this size.
func NewSketch(width, height float64) *Sketch { return &Sketch{drawing{width: width, height: height}} }

// Place is a place in a figure: right and down.
type Place struct{ X, Y float64 }

// Tone is what a colour means; light and dark pages each have their own.
type Tone int

// The tones of a figure.
const (
	Ink   = Tone(toneInk)
	Soft  = Tone(toneSoft)
	Rule  = Tone(toneLine)
	Faint = Tone(toneFaint)
	Base  = Tone(toneBase)
	Now   = Tone(toneNow)
	Other = Tone(toneRef) // a third kind, beside base and now
	Bad   = Tone(toneBad)
	Good  = Tone(toneGood)
)

// Line draws through points; wide is 1, 1.5 or 2.
func (s *Sketch) Line(t Tone, wide float64, points ...Place) {
	s.d.line(tone(t), wide, places(points)...)
}

// Dashes draws a broken line.
func (s *Sketch) Dashes(t Tone, wide float64, points ...Place) {
	s.d.dashedLine(tone(t), wide, places(points)...)
}

// Bar fills a box.
func (s *Sketch) Bar(t Tone, x, y, width, height float64) { s.d.bar(tone(t), x, y, width, height) }

// Dot fills a circle, or draws one.
func (s *Sketch) Dot(t Tone, at Place, radius float64, hollow bool) {
	s.d.dot(tone(t), at.place(), radius, hollow)
}

// Arrow draws a line with a head at its end.
func (s *Sketch) Arrow(t Tone, from, to Place) { s.d.arrow(tone(t), from.place(), to.place(), 0) }

// Label is how text stands at its place: Align is below 0 where it begins, 0 for its middle,
// above 0 where it ends. Text wider than Most loses its middle; 0 is any width. Text is
// small, unless it is to be read as a heading.
type Label struct {
	Text    string
	Align   int
	Mono    bool
	Bold    bool
	Heading bool
	Most    float64
}

// Write sets text with its baseline at a place.
func (s *Sketch) Write(t Tone, at Place, l Label) {
	w := l.word()
	w.halo = true
	if l.Most > 0 {
		w.text = shortened(w.face(), w.size(), w.text, l.Most)
	}
	switch {
	case l.Align == 0:
		w.anchor = atMiddle
	case l.Align > 0:
		w.anchor = atEnd
	}
	s.d.write(tone(t), at.place(), w)
}

// Width is what a label takes.
func (l Label) Width() float64 { return l.word().width() }

func (l Label) word() word {
	return word{text: drawable(l.Text), small: !l.Heading, mono: l.Mono, bold: l.Bold}
}

// SmallLines breaks text for a figure into lines of small text no wider than most; what
// does not fit into so many is left out, with a sign of it.
func SmallLines(text string, most float64, atMost int) []string {
	return lines(emSmall, drawable(text), most, atMost)
}

// HTML is the figure as part of a page. What it shows is said in words beside it.
func (s *Sketch) HTML() template.HTML { return s.d.html() }

// SVG is the figure as a file of its own, in light and dark, with what it shows in words.
func (s *Sketch) SVG(title, about string) string { return s.d.document(title, about) }

func (p Place) place() point { return point{p.X, p.Y} }

func places(list []Place) []point {
	out := make([]point, len(list))
	for i, p := range list {
		out[i] = p.place()
	}
	return out
}

// PageStyle is how pawl's pages look.
func PageStyle() string { return pageStyle }

// PagePolicy lets a page have this style and nothing else: no script, no network.
func PagePolicy(style string) string { return policy(style, "") }

// ScriptedPolicy lets a page have this style and this script, and no other.
func ScriptedPolicy(style, script string) string { return policy(style, script) }

// TickTexts writes the ticks of an axis in one unit, which it names.
func TickTexts(marks []float64, unit string) (texts []string, shown string) {
	return tickText(marks, unit)
}
