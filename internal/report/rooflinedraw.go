package report

import (
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/measure"
)

// namesDrawn is the max number of cases labeled by name; with more, points are numbered and
// the names listed below.
const namesDrawn = 8

// roofPlot is a roofline being drawn on logarithmic axes.
type roofPlot struct {
	*drawing
	*Roofline
	plot                 rect
	left, right, low, up float64 // the logarithms at the edges
	room                 placer
}

// RooflinePNG writes a roofline as an image, 1200 pixels wide.
func RooflinePNG(w io.Writer, r *Roofline) error {
	d := r.alone()
	c := newCanvas(int(math.Ceil(2*d.height)), paper)
	d.paint(c, 0, 0, 2)
	if err := png.Encode(w, c.RGBA); err != nil {
		return fmt.Errorf("cannot write picture: %w", err)
	}
	return nil
}

// RooflineSVG writes a roofline as an SVG file for light and dark mode.
func RooflineSVG(w io.Writer, r *Roofline) error {
	if _, err := io.WriteString(w, r.alone().document("Roofline", r.Describe())); err != nil {
		return fmt.Errorf("cannot write drawing: %w", err)
	}
	return nil
}

// alone returns the drawing with a title above and the remarks below.
func (r *Roofline) alone() *drawing {
	const width, side, plotHeight = 600.0, 24.0, 380.0
	inner := r.draw(width-2*side, plotHeight)
	d := &drawing{width: width}
	title := "Roofline"
	if len(r.Points) > 0 && r.sidesAt(0) == len(r.Points) && r.Points[0].Name != "" {
		title += " of " + r.Points[0].Name // its points are labeled with their sides only
	}
	if r.Device != "" {
		title += " · " + r.Device
	}
	d.write(toneInk, point{side, 32}, word{text: elideMiddleAt(bold, em, title, width-2*side), bold: true})
	top := 44.0
	d.include(inner, side, top)
	y := top + inner.height + 8
	for _, note := range r.Remarks() {
		for _, text := range lines(emSmall, note, width-2*side, 3) {
			y += 13
			d.write(toneSoft, point{side, y}, word{text: text, small: true})
		}
	}
	d.height = y + 16
	return d
}

// include copies another drawing into d.
func (d *drawing) include(other *drawing, x, y float64) {
	for _, m := range other.marks {
		m.points = slices.Clone(m.points)
		for i := range m.points {
			m.points[i].x += x
			m.points[i].y += y
		}
		d.marks = append(d.marks, m)
	}
}

// draw draws the plot, and below it the names if they do not fit inside.
func (r *Roofline) draw(width, height float64) *drawing {
	p := &roofPlot{drawing: &drawing{width: width, height: height}, Roofline: r}
	p.plot = rect{38, 8, width - 38 - 6, height - 8 - 32}
	p.room = placer{within: p.plot.wider(-3)}
	p.edges()
	p.shadeAttainable()
	p.axes()
	for i := range p.Points { // no ceiling name may cover a point
		at := p.pointAt(i)
		p.room.block(rect{at.x - p.radius(), at.y - p.radius(), 2 * p.radius(), 2 * p.radius()})
	}
	p.drawCeilings()
	p.points()
	if p.numbered() {
		p.names()
	}
	return p.drawing
}

// radius returns the dot radius: more dots are smaller.
func (p *roofPlot) radius() float64 {
	if p.numbered() {
		return 3.8
	}
	return 4.8
}

func (p *roofPlot) numbered() bool { return p.cases() > namesDrawn }

// edges chooses axis limits that include all points and ridges, with a margin.
func (p *roofPlot) edges() {
	left, right, low, up := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, at := range p.Points {
		left, right = min(left, at.Intensity), max(right, at.Intensity)
		low, up = min(low, at.FlopsPerSecond), max(up, at.FlopsPerSecond)
	}
	if len(p.Points) == 0 {
		left, right, low, up = 1, 1, 1e9, 1e9
	}
	for _, c := range p.Compute {
		if ridge := p.Ridge(c); ridge > 0 {
			left, right = min(left, ridge), max(right, ridge)
		}
		up = max(up, c.Value)
	}
	p.left, p.right = math.Log10(left)-0.55, math.Log10(right)+0.75
	p.low, p.up = math.Log10(low)-0.6, math.Log10(up)+0.3
	for p.right-p.left < 2 {
		p.left, p.right = p.left-0.25, p.right+0.25
	}
	for p.up-p.low < 2 {
		p.up, p.low = p.up+0.1, p.low-0.25
	}
}

func (p *roofPlot) x(intensity float64) float64 {
	return p.plot.x + (math.Log10(intensity)-p.left)/(p.right-p.left)*p.plot.width
}

func (p *roofPlot) y(rate float64) float64 {
	return p.plot.y + (p.up-math.Log10(rate))/(p.up-p.low)*p.plot.height
}

func (p *roofPlot) at(intensity, rate float64) point { return point{p.x(intensity), p.y(rate)} }

// shadeAttainable shades the area within the device's limits.
func (p *roofPlot) shadeAttainable() {
	if len(p.Memory) == 0 || len(p.Compute) == 0 {
		return
	}
	bottom, right := p.plot.y+p.plot.height, p.plot.x+p.plot.width
	start, ridge := p.slopeStart(p.Memory[0]), p.at(p.Ridge(p.Compute[0]), p.Compute[0].Value)
	p.area(toneFaint, point{start.x, bottom}, start, ridge, point{right, ridge.y}, point{right, bottom})
}

// slopeStart returns where a memory slope enters the plot: at its left or bottom edge.
func (p *roofPlot) slopeStart(c Ceiling) point {
	intensity := max(math.Pow(10, p.left), math.Pow(10, p.low)/c.Value)
	return p.at(intensity, intensity*c.Value)
}

// axes draws the decades, with twos and fives between them if there are few.
func (p *roofPlot) axes() {
	bottom, right := p.plot.y+p.plot.height, p.plot.x+p.plot.width
	for _, v := range decades(p.left, p.right) {
		x := p.x(v)
		p.line(toneLine, 1, point{x, p.plot.y}, point{x, bottom})
		p.write(toneSoft, point{x, bottom + 13}, word{text: plainNumber(v), small: true, anchor: atMiddle})
	}
	for _, v := range decades(p.low, p.up) {
		y := p.y(v)
		p.line(toneLine, 1, point{p.plot.x, y}, point{right, y})
		p.write(toneSoft, point{p.plot.x - 5, y + 3.2}, word{text: si(v, ""), small: true, anchor: atEnd})
	}
	p.line(toneSoft, 1, point{p.plot.x, p.plot.y}, point{p.plot.x, bottom}, point{right, bottom})
	title := "operations per byte of DRAM (FLOP/byte)"
	if p.width < 420 { // too narrow for the long title next to the sides
		title = "FLOP/byte of DRAM"
	}
	p.write(toneSoft, point{right, bottom + 26}, word{text: title, small: true, anchor: atEnd})
	p.write(toneSoft, point{p.plot.x + 5, p.plot.y + 9}, word{text: "FLOP/s", small: true, halo: true})
	p.room.block(rect{p.plot.x, p.plot.y, 42, 13})
	if len(p.Arrows) > 0 {
		p.sides(point{p.plot.x, bottom + 26})
	}
}

// sides draws the legend of the sides.
func (p *roofPlot) sides(at point) {
	at.x += 3
	for _, s := range []struct {
		tone   tone
		hollow bool
		name   string
	}{{toneBase, true, measure.Base}, {toneNow, false, measure.Candidate}} {
		p.dot(s.tone, point{at.x + 1, at.y - 3.2}, 4, s.hollow)
		w := word{text: s.name, small: true}
		p.write(toneInk, point{at.x + 9, at.y}, w)
		at.x += 9 + w.width() + 14
	}
}

// decades returns the powers of ten between two logarithms, with twos and fives if there
// are few.
func decades(low, high float64) []float64 {
	step := max(1, int(math.Ceil((high-low)/9)))
	between := []float64{1}
	if high-low < 2.6 {
		between = []float64{1, 2, 5}
	}
	var list []float64
	for e := int(math.Floor(low)); float64(e) <= high; e++ {
		for _, m := range between {
			if v := m * math.Pow10(e); e%step == 0 && math.Log10(v) >= low && math.Log10(v) <= high {
				list = append(list, v)
			}
		}
	}
	return list
}

func plainNumber(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// The costs of a label crossing lines of the plot.
const (
	roofCost  = 34.0
	ridgeCost = 8.0
)

// drawCeilings draws the ceilings with their names along them, and their ridges.
func (p *roofPlot) drawCeilings() {
	right := p.plot.x + p.plot.width
	for i, c := range p.Memory {
		start, top := p.slopeStart(c), math.Pow(10, p.up)
		if len(p.Compute) > 0 {
			top = p.Compute[0].Value
		}
		end := p.at(top/c.Value, top)
		if end.x > right {
			end = p.at(math.Pow(10, p.right), math.Pow(10, p.right)*c.Value)
		}
		if i == 0 {
			p.line(toneInk, 2, start, end)
		} else {
			p.dashedLine(toneSoft, 1.5, start, end)
		}
		p.room.avoid(start, end, roofCost)
		p.along(start, end, c.Name+" "+si(c.Value, "B/s"))
	}
	for i, c := range p.Compute {
		from := point{p.plot.x, p.y(c.Value)}
		if ridge := p.Ridge(c); ridge > 0 {
			from = p.at(ridge, c.Value)
			p.dashedLine(toneSoft, 1, from, point{from.x, p.plot.y + p.plot.height})
			p.dot(toneInk, from, 2.6, false)
			p.ridgeName(from, ridge)
		}
		to := point{right, from.y}
		p.line([]tone{toneInk, toneSoft}[min(i, 1)], []float64{2, 1.5}[min(i, 1)], from, to)
		p.room.avoid(from, to, roofCost)
		w := word{text: c.Name + " " + si(c.Value, "FLOP/s"), small: true, anchor: atEnd, halo: true}
		p.write(toneInk, point{right - 4, from.y - 4}, w)
		p.room.block(rect{right - 4 - w.width(), from.y - 14, w.width() + 4, 13})
	}
}

// ridgeName writes the ridge's name at its foot, above the axis.
func (p *roofPlot) ridgeName(at point, ridge float64) {
	w := word{text: "ridge " + short(ridge), small: true, halo: true}
	bottom := p.plot.y + p.plot.height
	place := point{at.x + 4, bottom - 5}
	box := rect{place.x, place.y - 9, w.width(), 12}
	for slices.ContainsFunc(p.room.taken, box.overlaps) { // two ridges may be close
		place.y, box.y = place.y-13, box.y-13
	}
	p.write(toneSoft, place, w)
	p.room.block(box)
	p.room.avoid(at, point{at.x, bottom}, ridgeCost)
}

// along writes a name above a slope, in its direction, at its lower end. Points and ridges
// cluster at the other end.
func (p *roofPlot) along(start, end point, text string) {
	w := word{text: text, small: true, halo: true, angle: slope(start, end)}
	length := math.Hypot(end.x-start.x, end.y-start.y)
	if length < w.width()+24 {
		return
	}
	ux, uy := (end.x-start.x)/length, (end.y-start.y)/length
	for first := 10.0; first < length-w.width()-8; first += 10 {
		at := point{start.x + ux*first + uy*5, start.y + uy*first - ux*5}
		var boxes []rect // covering the rotated text
		for step := 0.0; step < w.width(); step += 6 {
			boxes = append(boxes, rect{at.x + ux*step - 2 + uy*4, at.y + uy*step - 6 - ux*4, 8, 10})
		}
		if p.room.free(boxes...) && p.plot.holds(boxes[len(boxes)-1]) {
			p.write(toneInk, at, w)
			p.room.block(boxes...)
			return
		}
	}
}

// points draws the arrows, then the dots, then their labels.
func (p *roofPlot) points() {
	for _, a := range p.Arrows {
		from, to := p.pointAt(a.From), p.pointAt(a.To)
		p.arrow(toneInk, from, to, p.radius()+0.8)
		p.room.avoid(from, to, roofCost)
	}
	for i, at := range p.Points {
		place := p.pointAt(i)
		if at.Side == measure.Base {
			p.dot(toneBase, place, p.radius(), true)
		} else {
			p.dot(toneNow, place, p.radius()-0.4, false)
		}
	}
	number := 0
	for i := 0; i < len(p.Points); number++ {
		sides := p.sidesAt(i)
		p.label(number, i, sides)
		i += sides
	}
}

func (p *roofPlot) pointAt(i int) point {
	return p.at(p.Points[i].Intensity, p.Points[i].FlopsPerSecond)
}

// label names a case at its last side. A single case is named above the plot, so each of
// its sides is labeled.
func (p *roofPlot) label(number, first, sides int) {
	last := first + sides - 1
	switch {
	case p.numbered():
		p.labelPoint(last, word{text: strconv.Itoa(number + 1), bold: true, small: true, halo: true})
	case p.cases() == 1:
		for i := first; i <= last; i++ {
			at := p.Points[i]
			title := at.Side
			if title == "" {
				title = at.Name
			}
			p.labelPoint(i, p.named(title), p.reached(at))
		}
	default:
		p.labelPoint(last, p.named(p.Points[last].Name), p.reached(p.Points[last]))
	}
}

func (p *roofPlot) named(name string) word {
	return word{text: elideMiddleAt(regular, em, drawable(name), p.plot.width*0.42), halo: true}
}

// reached describes a point's speed and its share of the attainable speed.
func (p *roofPlot) reached(at RoofPoint) word {
	text := si(at.FlopsPerSecond, "FLOP/s")
	if most := p.Attainable(at); most > 0 {
		text += ", " + share(at.FlopsPerSecond/most) + " of the roof"
	}
	return word{text: text, small: true, halo: true}
}

// labelPoint writes words near a point where there is space, with a line to the point if they
// are not close.
func (p *roofPlot) labelPoint(i int, words ...word) {
	at := p.pointAt(i)
	width, height := 0.0, float64(len(words))*12.5
	for _, w := range words {
		width = max(width, w.width()*1.1) // a page's own font may be slightly wider
	}
	box, ok := p.room.put(at, width, height)
	if !ok {
		return
	}
	near := point{min(max(at.x, box.x), box.x+width), min(max(at.y, box.y), box.y+height)}
	if gap := math.Hypot(near.x-at.x, near.y-at.y); gap > 14 {
		ux, uy := (near.x-at.x)/gap, (near.y-at.y)/gap
		apart := p.radius() + 1
		p.line(toneSoft, 1, point{at.x + ux*apart, at.y + uy*apart}, point{near.x - 2*ux, near.y - 2*uy})
	}
	for n, w := range words {
		tone, x := toneInk, box.x
		if n > 0 {
			tone = toneSoft
		}
		if box.x+width < at.x { // left of its point: the text ends there
			w.anchor, x = atEnd, box.x+width
		}
		p.write(tone, point{x, box.y + 10 + float64(n)*12.5}, w)
	}
}

// names lists the numbered cases below the plot.
func (p *roofPlot) names() {
	const rowHeight, gap = 14.0, 18.0
	top := p.height + 18
	rows := (p.cases() + 1) / 2
	column := (p.width - gap) / 2
	if len(p.Memory)+len(p.Compute) > 0 {
		for _, end := range []float64{column, p.width} {
			p.write(toneSoft, point{end, top}, word{text: "of the roof", small: true, anchor: atEnd})
		}
	}
	number := 0
	for i := 0; i < len(p.Points); number++ {
		last := p.Points[i+p.sidesAt(i)-1]
		x, y := float64(number/rows)*(column+gap), top+float64(number%rows+1)*rowHeight
		p.write(toneInk, point{x + 14, y}, word{text: strconv.Itoa(number + 1), small: true, bold: true, anchor: atEnd})
		p.write(toneInk, point{x + 20, y}, word{text: elideMiddleAt(regular, emSmall, drawable(last.Name), column-132), small: true})
		p.write(toneSoft, point{x + column - 38, y}, word{text: si(last.FlopsPerSecond, "FLOP/s"), small: true, anchor: atEnd})
		if most := p.Attainable(last); most > 0 {
			p.write(toneInk, point{x + column, y}, word{text: share(last.FlopsPerSecond / most), small: true, anchor: atEnd})
		}
		i += p.sidesAt(i)
	}
	p.height = top + float64(rows)*rowHeight + 4
}
