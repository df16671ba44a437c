package report

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// PNG writes an image of the result for chats and comments: the verdict, the number of
// cases per class, and the worst cases with their intervals.
func PNG(w io.Writer, d *Document) error {
	p := newPicture(d)
	p.head()
	p.plot()
	p.foot()
	if p.err != nil {
		return fmt.Errorf("cannot draw picture: %w", p.err)
	}
	if err := png.Encode(w, p.RGBA); err != nil {
		return fmt.Errorf("cannot write picture: %w", err)
	}
	return nil
}

// Page layout in pixels, twice the usual display size.
const (
	pictureWidth = 1200
	margin       = 48
	headHeight   = 240
	rowHeight    = 44
	footHeight   = 112
	rowsDrawn    = 12

	plotLeft  = 520
	plotRight = 900
)

var (
	paper    = color.RGBA{0xff, 0xff, 0xff, 0xff}
	dark     = color.RGBA{0x1c, 0x20, 0x24, 0xff}
	soft     = color.RGBA{0x58, 0x60, 0x68, 0xff}
	hairline = color.RGBA{0xd9, 0xdd, 0xe1, 0xff}
	red      = color.RGBA{0xb3, 0x26, 0x1e, 0xff}
	green    = color.RGBA{0x14, 0x6c, 0x43, 0xff}
	amber    = color.RGBA{0x8a, 0x53, 0x00, 0xff}
	slate    = color.RGBA{0x47, 0x55, 0x69, 0xff}
)

// picture is the one-pager being drawn. It keeps the first error.
type picture struct {
	*canvas
	doc   *Document
	cases []Case
	more  int // changed cases that do not fit
	scale float64
	err   error
}

func newPicture(d *Document) *picture {
	p := &picture{doc: d, cases: d.Changed()}
	if len(p.cases) == 0 { // nothing changed: show the unchanged cases
		for _, s := range d.Sections {
			p.cases = append(p.cases, s.Cases[:min(len(s.Cases), rowsDrawn/2)]...)
		}
	} else if len(p.cases) > rowsDrawn {
		p.more = len(p.cases) - rowsDrawn
		p.cases = p.cases[:rowsDrawn]
	}
	p.scale = effectScale(p.cases, d.limit)
	p.canvas = newCanvas(headHeight+len(p.cases)*rowHeight+footHeight, paper)
	return p
}

func (p *picture) say(x, y int, text string, in ink) int {
	width, err := p.write(x, y, drawable(text), in)
	p.err = errors.Join(p.err, err)
	return width
}

func (p *picture) head() {
	d := p.doc
	p.box(0, 0, pictureWidth, 10, outcomeColor(d))
	x := margin
	if d.Outcome != "" {
		x += p.say(x, 76, map[string]string{"pass": "PASS", "fail": "FAIL", "no answer": "NO ANSWER"}[d.Outcome], ink{kind: bold, size: 40, color: outcomeColor(d)}) + 24
	}
	p.say(x, 76, d.Title, ink{kind: bold, size: 40, color: dark, most: pictureWidth - margin - x})
	p.counts(126)
	about := map[string]string{}
	for _, f := range d.Facts {
		about[f.Label] = f.Text
	}
	line := about["commit"]
	if base := about["base"]; base != "" {
		line += " against " + base
	}
	p.say(margin, 168, line, ink{size: 20, color: soft, most: pictureWidth - 2*margin})
	p.say(margin, 196, about["hardware"], ink{size: 20, color: soft, most: pictureWidth - 2*margin})
	p.box(margin, headHeight-20, pictureWidth-2*margin, 2, hairline)
}

// counts draws the counts as large as one line allows.
func (p *picture) counts(y int) {
	const gap = 32
	texts := []string{p.doc.Headline}
	colors := []color.Color{dark}
	if len(p.doc.Counts) > 0 {
		texts, colors = nil, nil
		for _, c := range p.doc.Counts {
			fill := classColor(c.Class)
			if c.Cases == 0 {
				fill = soft
			}
			texts, colors = append(texts, c.String()), append(colors, fill)
		}
	}
	size := 28.0
	for ; size > 14; size-- {
		face, err := p.face(bold, size)
		if err != nil {
			p.err = errors.Join(p.err, err)
			return
		}
		width := gap * (len(texts) - 1)
		for _, t := range texts {
			width += measured(face, t)
		}
		if width <= pictureWidth-2*margin {
			break
		}
	}
	x := margin
	for i, t := range texts {
		x += p.say(x, y, t, ink{kind: bold, size: size, color: colors[i], most: pictureWidth - margin - x}) + gap
	}
}

// at returns the x position of a change in the plot.
func (p *picture) at(v float64) int {
	half := float64(plotRight-plotLeft) / 2
	return plotLeft + int(math.Round(half+min(max(v/p.scale, -1), 1)*half))
}

func (p *picture) plot() {
	top, height := headHeight-8, len(p.cases)*rowHeight
	if len(p.cases) == 0 {
		return
	}
	if slices.ContainsFunc(p.cases, func(c Case) bool { return c.Effect != nil }) {
		p.axis(top, height)
	}
	for i, c := range p.cases {
		y := headHeight + i*rowHeight
		fill := verdictColor(c)
		p.say(margin, y+24, c.Name, ink{kind: mono, size: 20, color: dark, most: plotLeft - margin - 24})
		if e := c.Effect; e != nil {
			low, high := p.at(e.Low), p.at(e.High)
			faint := fill
			faint.R, faint.G, faint.B = lighten(fill.R), lighten(fill.G), lighten(fill.B)
			p.box(min(low, high-4), y+9, max(high-low, 4), 18, faint)
			p.box(p.at(e.At)-2, y+5, 4, 26, fill)
		}
		text := cmp.Or(c.Change, string(c.Verdict), c.Now)
		p.say(pictureWidth-margin, y+24, text, ink{kind: bold, size: 22, color: fill, right: true, most: pictureWidth - margin - plotRight - 20})
	}
}

// axis draws the zero line in the middle, the limit dashed, and the meaning of both ends.
func (p *picture) axis(top, height int) {
	p.box(p.at(0)-1, top, 2, height, soft)
	if p.doc.limit > 0 && p.doc.limit < p.scale {
		p.dashes(p.at(p.doc.limit)-1, top, height, red)
	}
	small := ink{size: 18, color: soft}
	p.centred(p.at(-p.scale), top+height+26, fmt.Sprintf("better %+.0f %%", -100*p.scale), small)
	p.centred(p.at(0), top+height+26, "same", small)
	p.centred(p.at(p.scale), top+height+26, fmt.Sprintf("%+.0f %% worse", 100*p.scale), small)
}

func (p *picture) centred(x, y int, text string, in ink) {
	face, err := p.face(in.kind, in.size)
	if err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	in.right = true
	p.say(x+measured(face, text)/2, y, text, in)
}

func (p *picture) foot() {
	y := p.Bounds().Dy() - 28
	text := "pawl"
	for _, f := range p.doc.Facts {
		if f.Label == "measured" || f.Label == "cost" {
			text += " · " + f.Text
		}
	}
	if p.doc.Made != "" {
		text += " · " + p.doc.Made
	}
	if p.more > 0 {
		text = fmt.Sprintf("and %d more that changed · %s", p.more, text)
	}
	p.say(margin, y, text, ink{size: 20, color: soft, most: pictureWidth - 2*margin})
}

// lighten mixes a color with the white background.
func lighten(v uint8) uint8 { return uint8((int(v) + 2*0xff) / 3) }

func outcomeColor(d *Document) color.RGBA {
	switch d.Outcome {
	case "fail":
		return red
	case "pass":
		return green
	case "no answer":
		return amber
	default:
		return slate
	}
}

func classColor(c Class) color.RGBA {
	switch c {
	case ClassBroken, ClassRegressed, ClassMissing:
		return red
	case ClassImproved:
		return green
	case ClassInconclusive:
		return amber
	case ClassNew, ClassUnchanged, ClassMeasured:
		return slate
	}
	return slate
}

func verdictColor(c Case) color.RGBA {
	switch c.Verdict {
	case ratchet.Regression, ratchet.Broken, ratchet.Missing:
		return red
	case ratchet.Improvement:
		return green
	case ratchet.Inconclusive:
		return amber
	case ratchet.Maintained, ratchet.New, ratchet.Identical:
		return slate
	}
	return slate
}
