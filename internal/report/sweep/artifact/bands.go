package artifact

import (
	"math"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// bandChart has one band per config and one mark per implementation, on one axis.
type bandChart struct {
	title, axisText string
	about           string // what was measured, on which device
	note            string // how to read it
	names           []string
	looks           []markStyle
	bands           []band
	one             bool // draw a line at 1
	zero            bool // start the axis at zero if values are close
	tick            func(float64) string
}

type band struct {
	label  string
	points []point
}

// point is a mark; low and high are 0 without an interval. If the value is missing, lacks
// says why.
type point struct {
	of               int // index into names
	value, low, high float64
	sure             bool
	lacks            string
}

// Layout of a figure.
const (
	figureWidth = 900.0
	figureLeft  = 16.0
	figureRight = figureWidth - 24
	markHeight  = 15.0
	legendRow   = 18.0
	maxLabel    = 300.0 // width of a config's name
	maxName     = 200.0 // width of an implementation's name
)

// figureStyle is for a file to open, print or use in a paper, on white.
const figureStyle = `text{font:12px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#222}.page{fill:#fff}.c{text-anchor:middle}.e{text-anchor:end}` +
	`.title{font-size:15px;font-weight:600}.note{font-size:11px;fill:#666}.num{font-variant-numeric:tabular-nums}` +
	`.grid{stroke:#e4e4e4}.frame{stroke:#999}.one{stroke:#444;stroke-dasharray:4 3}.band{fill:#f6f6f6}`

// fitted returns a name with the middle cut out if it is too wide.
func fitted(name string, most float64) chart.Label {
	return chart.Label{Text: words.Sanitize(name), Size: 12}.Fit(most)
}

// draw lays out the figure, as high as its bands need.
func (c bandChart) draw() []byte {
	labels := 60.0
	for _, b := range c.bands {
		labels = max(labels, 28+1.1*fitted(b.label, maxLabel).Width()) // fonts of the reader may be wider
	}
	x := scaleOf(c.values(), c.zero, labels, figureRight)
	places, top := c.legend()
	bottom := top
	for _, b := range c.bands {
		bottom += b.height()
	}
	s := chart.NewFile(figureWidth, bottom+46, 1, words.Sanitize(c.title), words.Sanitize(c.note), figureStyle)
	s.Text(figureLeft, 24, "title", fitted(c.title, 450).Text)
	s.Text(figureRight, 24, "note e", fitted(c.about, 400).Text)
	for i, at := range places {
		drawMark(s, c.looks[i], at.X+6, at.Y-4, 0, 0, true)
		s.Text(at.X+16, at.Y, "", fitted(c.names[i], maxName).Text)
	}
	y := top
	for i, b := range c.bands {
		if i%2 == 1 {
			s.Path("band", chart.Box(0, y, figureWidth, y+b.height()))
		}
		y += b.height()
	}
	c.drawAxis(s, x, top, bottom)
	y = top
	for _, b := range c.bands {
		c.drawBand(s, x, b, y)
		y += b.height()
	}
	return []byte(s.File())
}

// legend returns the positions of the names, in rows as wide as the figure, and the y position
// below them.
func (c bandChart) legend() (places []chart.Point, bottom float64) {
	at := chart.At(figureLeft, 46)
	for _, name := range c.names {
		width := 30 + 1.1*fitted(name, maxName).Width()
		if at.X+width > figureRight && at.X > figureLeft {
			at = chart.At(figureLeft, at.Y+legendRow)
		}
		places = append(places, at)
		at.X += width
	}
	return places, at.Y + 6
}

func (b band) height() float64 { return 10 + markHeight*float64(max(len(b.points), 1)) }

func (c bandChart) values() []float64 {
	var list []float64
	for _, b := range c.bands {
		for _, p := range b.points {
			if p.lacks != "" {
				continue
			}
			list = append(list, p.value)
			if p.low > p.value/2 && p.high < p.value*2 { // a very wide interval must not compress the others
				list = append(list, p.low, p.high)
			}
		}
	}
	if c.one {
		list = append(list, 1)
	}
	return list
}

// fewTimes is the max ratio of values on a linear scale. Above it, ratios matter.
const fewTimes = 4

// scaleOf returns a scale that covers all values, with a small margin. Values are positive.
func scaleOf(values []float64, zero bool, from, to float64) chart.Scale {
	s := chart.Scale{Low: math.Inf(1), From: from, To: to}
	for _, v := range values {
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
	if !(s.High > 0) || !(s.Low > 0) || math.IsInf(s.High, 0) {
		s.Low, s.High = 0.5, 2
	}
	switch {
	case s.High/s.Low > fewTimes:
		s.Log = true
		s.Low, s.High = s.Low/1.15, s.High*1.15
	case zero:
		s.Low, s.High = 0, s.High*1.05
	default:
		room := max(0.06*(s.High-s.Low), 0.002*s.High)
		s.Low, s.High = max(s.Low-room, 0), s.High+room
	}
	return s
}

func (c bandChart) drawAxis(s *chart.SVG, x chart.Scale, top, bottom float64) {
	for _, t := range x.Ticks(7) {
		s.Path("grid", chart.Move(x.At(t), top)+"V"+chart.Coord(bottom))
		s.Text(x.At(t), bottom+16, "num c", c.tick(t))
	}
	s.Path("frame", chart.Move(x.From, bottom)+"H"+chart.Coord(x.To))
	if c.one {
		s.Path("one", chart.Move(x.At(1), top)+"V"+chart.Coord(bottom))
	}
	s.Text(figureLeft, bottom+34, "note", c.axisText)
	s.Text(figureRight, bottom+34, "note e", fitted(c.note, 600).Text)
}

func (c bandChart) drawBand(s *chart.SVG, x chart.Scale, b band, top float64) {
	s.Text(x.From-12, top+b.height()/2+4, "e", fitted(b.label, maxLabel).Text)
	for i, p := range b.points {
		y := top + 5 + markHeight*(float64(i)+0.5)
		if p.lacks != "" {
			s.Text(x.From+6, y+4, "note", fitted(c.names[p.of]+": "+p.lacks, figureRight-x.From).Text)
			continue
		}
		low, high := 0.0, 0.0
		if p.high > p.low {
			low, high = x.Within(p.low), x.Within(p.high)
		}
		drawMark(s, c.looks[p.of], x.Within(p.value), y, low, high, p.sure)
	}
}
