package chart

import (
	"sort"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Sizes of text.
const (
	LargeText = 11.0
	SmallText = 9.5
)

// The parts of a label that its position can refer to.
const (
	Start  = -1
	Middle = 0
	End    = 1
)

// Label is a text and its layout. A negative Align puts its start at the position, 0 its
// middle, a positive one its end. Text wider than Most loses its middle; 0 means no limit.
// Text is small unless Heading or Size is set.
type Label struct {
	Text    string
	Align   int
	Mono    bool
	Bold    bool
	Heading bool
	Size    float64 // any other size; images only, because a page has headings
	Most    float64
	Angle   float64 // degrees, clockwise
}

func (l Label) size() float64 {
	switch {
	case l.Size > 0:
		return l.Size
	case l.Heading:
		return LargeText
	default:
		return SmallText
	}
}

func (l Label) font() fontKind {
	switch {
	case l.Mono:
		return mono
	case l.Bold:
		return bold
	default:
		return regular
	}
}

// Width returns the width of a label in pawl's own fonts, without regard to Most. Browser
// fonts are about as wide, not wider.
func (l Label) Width() float64 { return textWidth(l.font(), l.size(), drawable(l.Text)) }

// Fit returns the label with the middle cut out if it is wider than most, because names
// differ at both ends. 0 means no limit.
func (l Label) Fit(most float64) Label {
	l.Text = drawable(l.Text)
	if most > 0 {
		l.Text = elide(l.font(), l.size(), l.Text, most)
	}
	return l
}

// fontKind is one of the fonts embedded in pawl, so that images look the same on every
// machine.
type fontKind int

const (
	regular fontKind = iota
	bold
	mono
)

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

// The characters that the fonts contain: Latin letters and a few signs.
const (
	lastLetter = 0x24f
	signs      = "…–—·→"
)

// drawable replaces characters that the fonts lack, which would show as empty boxes.
func drawable(s string) string {
	return strings.Map(func(r rune) rune {
		if words.Invisible(r) {
			return -1
		}
		if r > lastLetter && !strings.ContainsRune(signs, r) {
			return '?'
		}
		return r
	}, s)
}

// advances caches the widths of drawable characters at size 1, because layout needs them
// often.
var advances = sync.OnceValue(func() [3]map[rune]float64 {
	letters := []rune(signs)
	for r := rune(' '); r <= lastLetter; r++ {
		letters = append(letters, r)
	}
	var table [3]map[rune]float64
	for kind, f := range outlines() {
		table[kind] = map[rune]float64{}
		buffer := &sfnt.Buffer{}
		for _, r := range letters {
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

func textWidth(kind fontKind, size float64, text string) float64 {
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

// elide cuts the middle out of a text that is too wide.
func elide(kind fontKind, size float64, text string, most float64) string {
	if textWidth(kind, size, text) <= most {
		return text
	}
	letters := []rune(text)
	without := func(cut int) string {
		keep := len(letters) - cut
		head := (keep + 1) / 2
		return string(letters[:head]) + "…" + string(letters[len(letters)-(keep-head):])
	}
	return without(1 + sort.Search(len(letters)-1, func(cut int) bool { return textWidth(kind, size, without(1+cut)) <= most }))
}

// cutEnd cuts the end off a text that is too wide.
func cutEnd(size float64, text string, most float64) string {
	if textWidth(regular, size, text) <= most {
		return text
	}
	letters := []rune(text)
	fits := sort.Search(len(letters), func(n int) bool { return textWidth(regular, size, string(letters[:n+1])+"…") > most })
	return string(letters[:fits]) + "…"
}

// Lines breaks text at spaces so that no line is too wide. Text beyond the max number of
// lines is cut and marked as cut.
func Lines(size float64, text string, most float64, atMost int) []string {
	var list []string
	current := ""
	words := splitWords(drawable(text))
	for i, w := range words {
		next := w
		if current != "" {
			next = current + " " + w
		}
		if current == "" || textWidth(regular, size, next) <= most {
			current = next
			continue
		}
		if len(list) == atMost-1 {
			return append(list, cutEnd(size, current+" "+strings.Join(words[i:], " "), most))
		}
		list, current = append(list, elide(regular, size, current, most)), w
	}
	if current != "" {
		list = append(list, elide(regular, size, current, most))
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
