package report

import (
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// drawing is a figure before anybody knows what it is drawn on: a page takes it as
// SVG, a picture as pixels, and both show the same. Its unit is a pixel of a page whose
// text is em high.
type drawing struct {
	width, height float64
	marks         []mark
}

// The sizes of text in a drawing.
const (
	em      = 11.0
	emSmall = 9.5
)

// point is a place in a drawing: right and down.
type point struct{ x, y float64 }

// tone is what a colour means; page and picture each have their own.
type tone int

const (
	toneInk tone = iota
	toneSoft
	toneLine
	toneFaint
	toneBase
	toneNow
	toneRef
	toneBad
	toneGood
)

// toneNames are the classes of the page's style.
var toneNames = [...]string{"ink", "soft", "line", "faint", "base", "now", "ref", "bad", "good"}

// mark is one thing that is drawn: a line, an area, a dot or a word.
type mark struct {
	kind   markKind
	points []point
	tone   tone
	wide   float64 // of a line, or the radius of a dot
	dashed bool
	hollow bool // a dot with the page in its middle
	word
}

type markKind int

const (
	markLine markKind = iota
	markArea
	markDot
	markWord
)

// word is how text stands at its place.
type word struct {
	text   string
	small  bool
	bold   bool
	mono   bool
	anchor anchor
	angle  float64 // degrees, clockwise
	halo   bool    // keeps lines behind it from crossing it
	large  float64 // its size where it is neither em nor emSmall: in pictures only, a page has headings
}

// anchor is the part of a text that its place is about.
type anchor int

const (
	atStart anchor = iota
	atMiddle
	atEnd
)

func (d *drawing) line(t tone, wide float64, points ...point) {
	d.marks = append(d.marks, mark{kind: markLine, points: points, tone: t, wide: wide})
}

func (d *drawing) dashedLine(t tone, wide float64, points ...point) {
	d.marks = append(d.marks, mark{kind: markLine, points: points, tone: t, wide: wide, dashed: true})
}

func (d *drawing) area(t tone, points ...point) {
	d.marks = append(d.marks, mark{kind: markArea, points: points, tone: t})
}

func (d *drawing) bar(t tone, x, y, width, height float64) {
	d.area(t, point{x, y}, point{x + width, y}, point{x + width, y + height}, point{x, y + height})
}

func (d *drawing) dot(t tone, at point, radius float64, hollow bool) {
	d.marks = append(d.marks, mark{kind: markDot, points: []point{at}, tone: t, wide: radius, hollow: hollow})
}

// write sets text with its baseline at a place.
func (d *drawing) write(t tone, at point, w word) {
	w.text = drawable(w.text)
	d.marks = append(d.marks, mark{kind: markWord, points: []point{at}, tone: t, word: w})
}

// arrow is a line with a head at its end, which keeps apart from the dots at both ends.
func (d *drawing) arrow(t tone, from, to point, apart float64) {
	length := math.Hypot(to.x-from.x, to.y-from.y)
	if length < 2*apart+3 { // the dots say it all
		return
	}
	ux, uy := (to.x-from.x)/length, (to.y-from.y)/length
	from = point{from.x + ux*apart, from.y + uy*apart}
	tip := point{to.x - ux*apart, to.y - uy*apart}
	head := min(7, length-2*apart)
	half := 0.46 * head
	neck := point{tip.x - ux*head, tip.y - uy*head}
	d.line(t, 1.5, from, neck)
	d.area(t, tip, point{neck.x - uy*half, neck.y + ux*half}, point{neck.x + uy*half, neck.y - ux*half})
}

func (w word) size() float64 {
	switch {
	case w.large > 0:
		return w.large
	case w.small:
		return emSmall
	default:
		return em
	}
}

func (w word) face() faceKind {
	switch {
	case w.mono:
		return mono
	case w.bold:
		return bold
	default:
		return regular
	}
}

// width is what the text takes in pawl's own fonts. Those of a browser are about as
// wide, not wider.
func (w word) width() float64 { return textWidth(w.face(), w.size(), w.text) }

// outlines are the fonts as curves: text of any size, at any angle.
var outlines = sync.OnceValue(func() [3]*sfnt.Font {
	var list [3]*sfnt.Font
	for i, data := range [][]byte{goregular.TTF, gobold.TTF, gomono.TTF} {
		list[i], _ = sfnt.Parse(data) // they are part of the program, and a test reads them
	}
	return list
})

// fine is how many units of a font's measure a pixel is divided into: text is laid out
// large and scaled down, so that nothing is rounded to pixels.
const fine = 64.0

// advances are how wide the letters are that a drawing may have, at size 1: layout asks
// for them again and again.
var advances = sync.OnceValue(func() [3]map[rune]float64 {
	var table [3]map[rune]float64
	for kind, f := range outlines() {
		table[kind] = map[rune]float64{}
		buffer := &sfnt.Buffer{}
		for _, r := range drawnLetters() {
			glyph, err := f.GlyphIndex(buffer, r)
			if err != nil {
				continue
			}
			if advance, err := f.GlyphAdvance(buffer, glyph, fixed.Int26_6(fine*64), font.HintingNone); err == nil {
				table[kind][r] = float64(advance) / 64 / fine
			}
		}
	}
	return table
})

func textWidth(kind faceKind, size float64, text string) float64 {
	table, total := advances()[kind], 0.0
	for _, r := range text {
		width, known := table[r]
		if !known {
			width = table['?'] // as which it is drawn
		}
		total += width
	}
	return total * size
}

// shortened leaves out the middle of a text that is wider than most.
func shortened(kind faceKind, size float64, text string, most float64) string {
	letters := []rune(text)
	if textWidth(kind, size, text) <= most {
		return text
	}
	low, high := 1, len(letters) // of letters cut: some are too few, all are enough
	without := func(cut int) string {
		keep := len(letters) - cut
		head := (keep + 1) / 2
		return string(letters[:head]) + "…" + string(letters[len(letters)-(keep-head):])
	}
	for low < high {
		if middle := (low + high) / 2; textWidth(kind, size, without(middle)) <= most {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return without(low)
}

// lines breaks text at spaces so that no line is wider than most; what does not fit
// into so many lines is left out, with a sign of it.
func lines(size float64, text string, most float64, atMost int) []string {
	var list []string
	current := ""
	words := unbroken(text)
	const kind = regular
	for i, w := range words {
		next := w
		if current != "" {
			next = current + " " + w
		}
		if current == "" || textWidth(kind, size, next) <= most {
			current = next
			continue
		}
		if len(list) == atMost-1 {
			return append(list, cutEnd(kind, size, current+" "+strings.Join(words[i:], " "), most))
		}
		list, current = append(list, shortened(kind, size, current, most)), w
	}
	if current != "" {
		list = append(list, shortened(kind, size, current, most))
	}
	return list
}

// unbroken are the words of a text; a number stays with its percent sign.
func unbroken(text string) []string {
	var list []string
	for w := range strings.FieldsSeq(text) {
		if n := len(list); n > 0 && strings.HasPrefix(w, "%") {
			list[n-1] += " " + w
		} else {
			list = append(list, w)
		}
	}
	return list
}

// cutEnd leaves out the end of a text that is wider than most.
func cutEnd(kind faceKind, size float64, text string, most float64) string {
	if textWidth(kind, size, text) <= most {
		return text
	}
	letters := []rune(text)
	low, high := 0, len(letters)
	for low < high { // the most letters that fit
		if middle := (low + high + 1) / 2; textWidth(kind, size, string(letters[:middle])+"…") <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return string(letters[:low]) + "…"
}
