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

// drawing is a figure independent of its output: pages render it as SVG, images as pixels,
// and both look the same. Its unit is one pixel of a page whose text is em high.
type drawing struct {
	width, height float64
	marks         []mark
}

// Text sizes in a drawing.
const (
	em      = 11.0
	emSmall = 9.5
)

// point is a position in a drawing; x grows to the right, y down.
type point struct{ x, y float64 }

// tone is the meaning of a color. Pages and images each map it to their own color.
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

// toneNames are the CSS classes of the tones.
var toneNames = [...]string{"ink", "soft", "line", "faint", "base", "now", "ref", "bad", "good"}

// mark is one drawn element: a line, an area, a dot or a text.
type mark struct {
	kind   markKind
	points []point
	tone   tone
	wide   float64 // width of a line, or radius of a dot
	dashed bool
	hollow bool // a dot filled with the background
	word
}

type markKind int

const (
	markLine markKind = iota
	markArea
	markDot
	markWord
)

// word is a text and its layout.
type word struct {
	text   string
	small  bool
	bold   bool
	mono   bool
	anchor anchor
	angle  float64 // degrees, clockwise
	halo   bool    // a background outline that hides lines behind the text
	large  float64 // font size if neither em nor emSmall; images only, because a page has headings
}

// anchor is the part of a text that its position refers to.
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

// write adds text with its baseline at a position.
func (d *drawing) write(t tone, at point, w word) {
	w.text = drawable(w.text)
	d.marks = append(d.marks, mark{kind: markWord, points: []point{at}, tone: t, word: w})
}

// arrow draws a line with a head at its end. It keeps a distance from the dots at both
// ends.
func (d *drawing) arrow(t tone, from, to point, apart float64) {
	length := math.Hypot(to.x-from.x, to.y-from.y)
	if length < 2*apart+3 { // too short: the dots alone are enough
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

// width returns the width of the text in pawl's own fonts. Browser fonts are about as wide,
// not wider.
func (w word) width() float64 { return textWidth(w.face(), w.size(), w.text) }

// outlines are the fonts as curves, for text of any size and angle.
var outlines = sync.OnceValue(func() [3]*sfnt.Font {
	var list [3]*sfnt.Font
	for i, data := range [][]byte{goregular.TTF, gobold.TTF, gomono.TTF} {
		list[i], _ = sfnt.Parse(data) // they are embedded, and a test parses them
	}
	return list
})

// fontUnitsPerPixel is the number of font units per pixel. Text is laid out large and scaled down, so
// that nothing is rounded to pixels.
const fontUnitsPerPixel = 64.0

// advances caches the widths of drawable characters at size 1, because layout needs them
// often.
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
			if advance, err := f.GlyphAdvance(buffer, glyph, fixed.Int26_6(fontUnitsPerPixel*64), font.HintingNone); err == nil {
				table[kind][r] = float64(advance) / 64 / fontUnitsPerPixel
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
			width = table['?'] // drawn in its place
		}
		total += width
	}
	return total * size
}

// elideMiddleAt cuts the middle out of a text that is too wide.
func elideMiddleAt(kind faceKind, size float64, text string, most float64) string {
	letters := []rune(text)
	if textWidth(kind, size, text) <= most {
		return text
	}
	low, high := 1, len(letters) // number of letters to cut: low is too few, high is enough
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

// lines breaks text at spaces so that no line is too wide. Text beyond the max number of
// lines is cut and marked as cut.
func lines(size float64, text string, most float64, atMost int) []string {
	var list []string
	current := ""
	words := splitWords(text)
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
		list, current = append(list, elideMiddleAt(kind, size, current, most)), w
	}
	if current != "" {
		list = append(list, elideMiddleAt(kind, size, current, most))
	}
	return list
}

// splitWords splits a text into words. A number stays with its percent sign.
func splitWords(text string) []string {
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

// cutEnd cuts the end off a text that is too wide.
func cutEnd(kind faceKind, size float64, text string, most float64) string {
	if textWidth(kind, size, text) <= most {
		return text
	}
	letters := []rune(text)
	low, high := 0, len(letters)
	for low < high { // find the max number of letters that fit
		if middle := (low + high + 1) / 2; textWidth(kind, size, string(letters[:middle])+"…") <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return string(letters[:low]) + "…"
}
