package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// PNG writes an image of the result for chats and comments, 1200 pixels wide: the verdict,
// the number of cases per class, and the worst cases with their intervals.
func PNG(w io.Writer, d *Document) error { return newPicture(d).PNG(w) }

// Layout of the image.
const (
	pictureWidth = 600.0
	margin       = 24.0
	pictureInner = pictureWidth - 2*margin
	headHeight   = 120.0
	rowHeight    = 22.0
	footHeight   = 56.0
	rowsDrawn    = 12

	plotLeft  = 260.0
	plotRight = 450.0
)

// picture is the image being drawn.
type picture struct {
	*chart.Drawing
	doc   *Document
	cases []Case
	x     chart.Scale // of changes
}

func newPicture(d *Document) *chart.Drawing {
	cases, more := d.Changed(), 0
	if len(cases) == 0 { // nothing changed: show the unchanged cases
		for _, s := range d.Sections {
			cases = append(cases, s.Cases[:min(len(s.Cases), rowsDrawn/2)]...)
		}
	} else if len(cases) > rowsDrawn {
		cases, more = cases[:rowsDrawn], len(cases)-rowsDrawn
	}
	edge := effectScale(cases, d.limit)
	p := &picture{
		chart.New(pictureWidth, headHeight+float64(len(cases))*rowHeight+footHeight), d, cases,
		chart.Scale{Low: -edge, High: edge, From: plotLeft, To: plotRight},
	}
	p.head()
	p.plot()
	p.foot(more)
	return p.Drawing
}

// say prints text that ends at most at the right margin, and returns its width.
func (p *picture) say(t chart.Tone, x, y float64, l chart.Label) float64 {
	l.Align = chart.Start
	l = l.Fit(pictureWidth - margin - x)
	p.Print(t, chart.At(x, y), l)
	return l.Width()
}

func (p *picture) head() {
	d, x := p.doc, margin
	tone := map[string]chart.Tone{"": chart.Soft, "pass": chart.Good, "fail": chart.Bad, "no answer": chart.Open}[d.Outcome]
	p.Bar(tone, 0, 0, pictureWidth, 5)
	if d.Outcome != "" {
		text := map[string]string{"pass": "PASS", "fail": "FAIL", "no answer": "NO ANSWER"}[d.Outcome]
		x += p.say(tone, x, 38, chart.Label{Text: text, Bold: true, Size: 20}) + 12
	}
	p.say(chart.Ink, x, 38, chart.Label{Text: d.Title, Bold: true, Size: 20})
	p.counts(63)
	about := map[string]string{}
	for _, f := range d.Facts {
		about[f.Label] = f.Text
	}
	line := about["commit"]
	if base := about["base"]; base != "" {
		line += " against " + base
	}
	p.say(chart.Soft, margin, 84, chart.Label{Text: line, Size: 10})
	p.say(chart.Soft, margin, 98, chart.Label{Text: about["hardware"], Size: 10})
	p.Bar(chart.Rule, margin, headHeight-10, pictureInner, 1)
}

// counts draws the counts as large as one line allows.
func (p *picture) counts(y float64) {
	const gap, largest = 16.0, 14.0
	counts, tones := []chart.Label{{Text: p.doc.Headline, Bold: true}}, []chart.Tone{chart.Ink}
	if len(p.doc.Counts) > 0 {
		counts, tones = nil, nil
		for _, c := range p.doc.Counts {
			tone := c.Class.tone()
			if c.Cases == 0 {
				tone = chart.Soft
			}
			counts, tones = append(counts, chart.Label{Text: c.String(), Bold: true}), append(tones, tone)
		}
	}
	width := 0.0 // at size 1
	for i := range counts {
		counts[i].Size = 1
		width += counts[i].Width()
	}
	size := min(max((pictureInner-1-gap*float64(len(counts)-1))/max(width, 1), largest/2), largest)
	x := margin
	for i, l := range counts {
		l.Size = size
		x += p.say(tones[i], x, y, l) + gap
	}
}

func (p *picture) plot() {
	if slices.ContainsFunc(p.cases, func(c Case) bool { return c.Effect != nil }) {
		p.axis(headHeight-4, headHeight-4+float64(len(p.cases))*rowHeight)
	}
	for i, c := range p.cases {
		y, tone := headHeight+float64(i)*rowHeight, toneOf(c.Verdict)
		p.Print(chart.Ink, chart.At(margin, y+12), chart.Label{Text: c.Name, Align: chart.Start, Mono: true, Size: 10, Most: plotLeft - margin - 12})
		if e := c.Effect; e != nil {
			low, high := p.x.Within(e.Low), p.x.Within(e.High)
			p.LightBar(tone, min(low, high-2), y+4.5, max(high-low, 2), 9)
			p.Bar(tone, p.x.Within(e.At)-1, y+2.5, 2, 13)
		}
		text := cmp.Or(c.Change, string(c.Verdict), c.Now)
		p.Print(tone, chart.At(pictureWidth-margin, y+12), chart.Label{Text: text, Align: chart.End, Bold: true, Size: 11, Most: pictureWidth - margin - plotRight - 10})
	}
}

// axis draws the zero line in the middle, the limit dashed, and the meaning of both ends.
func (p *picture) axis(top, bottom float64) {
	p.Line(chart.Soft, 1, chart.At(p.x.At(0), top), chart.At(p.x.At(0), bottom))
	if limit := p.doc.limit; limit > 0 && limit < p.x.High {
		p.Dashes(chart.Bad, 1, chart.At(p.x.At(limit), top), chart.At(p.x.At(limit), bottom))
	}
	name := func(at float64, text string) {
		p.Print(chart.Soft, chart.At(p.x.At(at), bottom+13), chart.Label{Text: text, Size: 9})
	}
	name(p.x.Low, fmt.Sprintf("better %+.0f %%", 100*p.x.Low))
	name(0, "same")
	name(p.x.High, fmt.Sprintf("%+.0f %% worse", 100*p.x.High))
}

func (p *picture) foot(more int) {
	text := "pawl"
	for _, f := range p.doc.Facts {
		if f.Label == "measured" || f.Label == "cost" {
			text += " · " + f.Text
		}
	}
	if p.doc.Made != "" {
		text += " · " + p.doc.Made
	}
	if more > 0 {
		text = fmt.Sprintf("and %d more that changed · %s", more, text)
	}
	p.say(chart.Soft, margin, p.Height-14, chart.Label{Text: text, Size: 10})
}
