package artifact

import "unicode/utf8"

// chart has one band per config and one mark per implementation, on one axis.
type chart struct {
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

const (
	chartWidth     = 900
	markHeight     = 15
	maxLabelLength = 44 // characters of a config's name
)

// draw lays out the chart, as high as its bands need.
func (c chart) draw() []byte {
	labels := 60.0
	for _, b := range c.bands {
		labels = max(labels, 28+7.1*float64(min(utf8.RuneCountInString(b.label), maxLabelLength)))
	}
	a := newAxis(c.values(), c.zero, labels, chartWidth-24)
	places, legendHeight := legend(c.names, chartWidth-32)
	const margin = 16
	top := 34 + legendHeight
	height := top + 46
	for _, b := range c.bands {
		height += bandHeight(b)
	}
	s := newSVG(chartWidth, height, c.title, c.note)
	s.text(margin, 24, "start", "title", c.title, 60)
	s.text(chartWidth-24, 24, "end", "note", c.about, 70)
	s.legend(margin, 46, c.names, c.looks, places)
	bottom := top
	for i, b := range c.bands {
		if i%2 == 1 {
			s.rect(0, bottom, chartWidth, bandHeight(b), "band")
		}
		bottom += bandHeight(b)
	}
	c.drawAxis(s, a, top, bottom)
	y := top
	for _, b := range c.bands {
		c.drawBand(s, a, b, y)
		y += bandHeight(b)
	}
	s.text(chartWidth-24, bottom+34, "end", "note", c.note, 150)
	return s.bytes()
}

func bandHeight(b band) float64 { return 10 + markHeight*float64(max(len(b.points), 1)) }

func (c chart) values() []float64 {
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

func (c chart) drawAxis(s *svg, a axis, top, bottom float64) {
	for _, t := range a.ticks() {
		s.line(a.at(t), top, a.at(t), bottom, "grid")
		s.text(a.at(t), bottom+16, "middle", "num", c.tick(t), 20)
	}
	s.line(a.from, bottom, a.to, bottom, "frame")
	if c.one {
		s.line(a.at(1), top, a.at(1), bottom, "one")
	}
	s.text(16, bottom+34, "start", "note", c.axisText, 40)
}

func (c chart) drawBand(s *svg, a axis, b band, top float64) {
	s.text(a.from-12, top+bandHeight(b)/2+4, "end", "", b.label, maxLabelLength)
	for i, p := range b.points {
		y := top + 5 + markHeight*(float64(i)+0.5)
		if p.lacks != "" {
			s.text(a.from+6, y+4, "start", "note", c.names[p.of]+": "+p.lacks, 100)
			continue
		}
		low, high := 0.0, 0.0
		if p.high > p.low {
			low, high = a.at(p.low), a.at(p.high)
		}
		s.mark(c.looks[p.of], a.at(p.value), y, low, high, p.sure)
	}
}
