package roofline

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// namesDrawn is the max number of cases labeled by name; with more, points are numbered and
// the names listed below.
const namesDrawn = 8

// plot is a roofline being drawn on logarithmic axes.
type plot struct {
	*chart.Drawing
	*Roof
	frame rect
	x, y  chart.Scale
	room  placer
}

// Picture draws the roofline with a title above and the remarks below.
func (r *Roof) Picture() *chart.Drawing {
	const width, side, top = 600.0, 24.0, 44.0
	title := "Roofline"
	if len(r.Cases) == 1 && r.Cases[0][0].Name != "" {
		title += " of " + r.Cases[0][0].Name // its points are labeled with their sides only
	}
	if r.Device != "" {
		title += " · " + r.Device
	}
	d, inner := chart.New(width, 0), r.Draw(width-2*side, 380)
	d.Print(chart.Ink, chart.At(side, 32), chart.Label{Text: title, Align: chart.Start, Bold: true, Heading: true, Most: width - 2*side})
	d.Include(inner, side, top)
	d.Height = 16 + r.PrintRemarks(d, chart.At(side, top+inner.Height+8), width-2*side, 3)
	return d
}

// PrintRemarks prints the remarks on at most atMost lines each, and returns the baseline of
// the last one.
func (r *Roof) PrintRemarks(d *chart.Drawing, at chart.Point, width float64, atMost int) float64 {
	for _, note := range r.Remarks() {
		at.Y = d.PrintLines(chart.Soft, at, 13, chart.Lines(chart.SmallText, note, width, atMost), chart.Label{Align: chart.Start})
	}
	return at.Y
}

// Draw draws the plot, and below it the names if they do not fit inside.
func (r *Roof) Draw(width, height float64) *chart.Drawing {
	p := &plot{Drawing: chart.New(width, height), Roof: r}
	p.frame = rect{38, 8, width - 38 - 6, height - 8 - 32}
	p.room = placer{within: p.frame.wider(-3)}
	p.edges()
	p.shadeAttainable()
	p.axes()
	for _, c := range p.points() { // no ceiling name may cover a point
		at := p.place(c)
		p.room.block(rect{at.X - p.radius(), at.Y - p.radius(), 2 * p.radius(), 2 * p.radius()})
	}
	p.drawCeilings()
	p.drawCases()
	if p.numbered() {
		p.names()
	}
	return p.Drawing
}

// radius returns the dot radius: more dots are smaller.
func (p *plot) radius() float64 {
	if p.numbered() {
		return 3.8
	}
	return 4.8
}

func (p *plot) numbered() bool { return len(p.Cases) > namesDrawn }

// edges chooses axis limits that include all points and ridges, with a margin.
func (p *plot) edges() {
	left, right, low, up := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, at := range p.points() {
		left, right = min(left, at.Intensity), max(right, at.Intensity)
		low, up = min(low, at.FlopsPerSecond), max(up, at.FlopsPerSecond)
	}
	if len(p.Cases) == 0 {
		left, right, low, up = 1, 1, 1e9, 1e9
	}
	for _, c := range p.Compute {
		if ridge := p.Ridge(c); ridge > 0 {
			left, right = min(left, ridge), max(right, ridge)
		}
		up = max(up, c.Value)
	}
	logLeft, logRight := math.Log10(left)-0.55, math.Log10(right)+0.75
	logLow, logUp := math.Log10(low)-0.6, math.Log10(up)+0.3
	for logRight-logLeft < 2 {
		logLeft, logRight = logLeft-0.25, logRight+0.25
	}
	for logUp-logLow < 2 {
		logUp, logLow = logUp+0.1, logLow-0.25
	}
	p.x = chart.Scale{Low: math.Pow(10, logLeft), High: math.Pow(10, logRight), From: p.frame.x, To: p.frame.x + p.frame.width, Log: true}
	p.y = chart.Scale{Low: math.Pow(10, logLow), High: math.Pow(10, logUp), From: p.frame.y + p.frame.height, To: p.frame.y, Log: true}
}

func (p *plot) at(intensity, rate float64) chart.Point {
	return chart.At(p.x.At(intensity), p.y.At(rate))
}

// shadeAttainable shades the area within the device's limits.
func (p *plot) shadeAttainable() {
	if len(p.Memory) == 0 || len(p.Compute) == 0 {
		return
	}
	bottom, right := p.frame.y+p.frame.height, p.frame.x+p.frame.width
	start, ridge := p.slopeStart(p.Memory[0]), p.at(p.Ridge(p.Compute[0]), p.Compute[0].Value)
	p.Area(chart.Faint, chart.At(start.X, bottom), start, ridge, chart.At(right, ridge.Y), chart.At(right, bottom))
}

// slopeStart returns where a memory slope enters the plot: at its left or bottom edge.
func (p *plot) slopeStart(c Ceiling) chart.Point {
	intensity := max(p.x.Low, p.y.Low/c.Value)
	return p.at(intensity, intensity*c.Value)
}

// axes draws the decades, with twos and fives between them if there are few.
func (p *plot) axes() {
	bottom, right := p.frame.y+p.frame.height, p.frame.x+p.frame.width
	for _, v := range p.x.Ticks(4) {
		x := p.x.At(v)
		p.Line(chart.Rule, 1, chart.At(x, p.frame.y), chart.At(x, bottom))
		p.Print(chart.Soft, chart.At(x, bottom+13), chart.Label{Text: plainNumber(v)})
	}
	for _, v := range p.y.Ticks(4) {
		y := p.y.At(v)
		p.Line(chart.Rule, 1, chart.At(p.frame.x, y), chart.At(right, y))
		p.Print(chart.Soft, chart.At(p.frame.x-5, y+3.2), chart.Label{Text: words.SI(v, ""), Align: chart.End})
	}
	p.Line(chart.Soft, 1, chart.At(p.frame.x, p.frame.y), chart.At(p.frame.x, bottom), chart.At(right, bottom))
	title := "operations per byte of DRAM (FLOP/byte)"
	if p.Width < 420 { // too narrow for the long title next to the sides
		title = "FLOP/byte of DRAM"
	}
	p.Print(chart.Soft, chart.At(right, bottom+26), chart.Label{Text: title, Align: chart.End})
	p.Write(chart.Soft, chart.At(p.frame.x+5, p.frame.y+9), chart.Label{Text: "FLOP/s", Align: chart.Start})
	p.room.block(rect{p.frame.x, p.frame.y, 42, 13})
	if slices.ContainsFunc(p.Cases, func(sides []Point) bool { return len(sides) > 1 }) {
		p.sides(chart.At(p.frame.x, bottom+26))
	}
}

// sides draws the legend of the sides.
func (p *plot) sides(at chart.Point) {
	at.X += 3
	for _, s := range []struct {
		tone   chart.Tone
		hollow bool
		name   string
	}{{chart.Base, true, measure.Base}, {chart.Now, false, measure.Candidate}} {
		p.Dot(s.tone, chart.At(at.X+1, at.Y-3.2), 4, s.hollow)
		w := chart.Label{Text: s.name, Align: chart.Start}
		p.Print(chart.Ink, chart.At(at.X+9, at.Y), w)
		at.X += 9 + w.Width() + 14
	}
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
func (p *plot) drawCeilings() {
	right := p.frame.x + p.frame.width
	for i, c := range p.Memory {
		start, top := p.slopeStart(c), p.y.High
		if len(p.Compute) > 0 {
			top = p.Compute[0].Value
		}
		end := p.at(top/c.Value, top)
		if end.X > right {
			end = p.at(p.x.High, p.x.High*c.Value)
		}
		if i == 0 {
			p.Line(chart.Ink, 2, start, end)
		} else {
			p.Dashes(chart.Soft, 1.5, start, end)
		}
		p.room.avoid(start, end, roofCost)
		p.along(start, end, c.Name+" "+words.SI(c.Value, "B/s"))
	}
	for i, c := range p.Compute {
		from := chart.At(p.frame.x, p.y.At(c.Value))
		if ridge := p.Ridge(c); ridge > 0 {
			from = p.at(ridge, c.Value)
			p.Dashes(chart.Soft, 1, from, chart.At(from.X, p.frame.y+p.frame.height))
			p.Dot(chart.Ink, from, 2.6, false)
			p.ridgeName(from, ridge)
		}
		to := chart.At(right, from.Y)
		p.Line([]chart.Tone{chart.Ink, chart.Soft}[min(i, 1)], []float64{2, 1.5}[min(i, 1)], from, to)
		p.room.avoid(from, to, roofCost)
		w := chart.Label{Text: c.Name + " " + words.SI(c.Value, "FLOP/s"), Align: chart.End}
		p.Write(chart.Ink, chart.At(right-4, from.Y-4), w)
		p.room.block(rect{right - 4 - w.Width(), from.Y - 14, w.Width() + 4, 13})
	}
}

// ridgeName writes the ridge's name at its foot, above the axis.
func (p *plot) ridgeName(at chart.Point, ridge float64) {
	w := chart.Label{Text: "ridge " + words.Short(ridge), Align: chart.Start}
	bottom := p.frame.y + p.frame.height
	place := chart.At(at.X+4, bottom-5)
	box := rect{place.X, place.Y - 9, w.Width(), 12}
	for slices.ContainsFunc(p.room.taken, box.overlaps) { // two ridges may be close
		place.Y, box.y = place.Y-13, box.y-13
	}
	p.Write(chart.Soft, place, w)
	p.room.block(box)
	p.room.avoid(at, chart.At(at.X, bottom), ridgeCost)
}

// along writes a name above a slope, in its direction, at its lower end. Points and ridges
// cluster at the other end.
func (p *plot) along(start, end chart.Point, text string) {
	w := chart.Label{Text: text, Align: chart.Start, Angle: math.Atan2(end.Y-start.Y, end.X-start.X) * 180 / math.Pi}
	length := math.Hypot(end.X-start.X, end.Y-start.Y)
	if length < w.Width()+24 {
		return
	}
	ux, uy := (end.X-start.X)/length, (end.Y-start.Y)/length
	for first := 10.0; first < length-w.Width()-8; first += 10 {
		at := chart.At(start.X+ux*first+uy*5, start.Y+uy*first-ux*5)
		var boxes []rect // covering the rotated text
		for step := 0.0; step < w.Width(); step += 6 {
			boxes = append(boxes, rect{at.X + ux*step - 2 + uy*4, at.Y + uy*step - 6 - ux*4, 8, 10})
		}
		if p.room.free(boxes...) && p.frame.holds(boxes[len(boxes)-1]) {
			p.Write(chart.Ink, at, w)
			p.room.block(boxes...)
			return
		}
	}
}

// drawCases draws the arrows from side to side, then the dots, then their labels.
func (p *plot) drawCases() {
	for _, sides := range p.Cases {
		for i := 1; i < len(sides); i++ {
			from, to, apart := p.place(sides[i-1]), p.place(sides[i]), p.radius()+0.8
			if math.Hypot(to.X-from.X, to.Y-from.Y) > 2*apart { // else the dots alone are enough
				p.Arrow(chart.Ink, toward(from, to, apart), toward(to, from, apart))
			}
			p.room.avoid(from, to, roofCost)
		}
	}
	for _, at := range p.points() {
		if at.Side == measure.Base {
			p.Dot(chart.Base, p.place(at), p.radius(), true)
		} else {
			p.Dot(chart.Now, p.place(at), p.radius()-0.4, false)
		}
	}
	for i, sides := range p.Cases {
		p.label(i+1, sides)
	}
}

func (p *plot) place(at Point) chart.Point { return p.at(at.Intensity, at.FlopsPerSecond) }

// toward returns the point that is some distance from a, on the line to b.
func toward(a, b chart.Point, distance float64) chart.Point {
	share := distance / math.Hypot(b.X-a.X, b.Y-a.Y)
	return chart.At(a.X+(b.X-a.X)*share, a.Y+(b.Y-a.Y)*share)
}

// label names a case at its last side. A single case is named above the plot, so each of
// its sides is labeled.
func (p *plot) label(number int, sides []Point) {
	last := sides[len(sides)-1]
	switch {
	case p.numbered():
		p.labelPoint(last, chart.Label{Text: strconv.Itoa(number), Align: chart.Start, Bold: true})
	case len(p.Cases) == 1:
		for _, at := range sides {
			p.labelPoint(at, p.named(cmp.Or(at.Side, at.Name)), p.reached(at))
		}
	default:
		p.labelPoint(last, p.named(last.Name), p.reached(last))
	}
}

func (p *plot) named(name string) chart.Label {
	return chart.Label{Text: name, Align: chart.Start, Heading: true}.Fit(p.frame.width * 0.42)
}

// reached describes a point's speed and its share of the attainable speed.
func (p *plot) reached(at Point) chart.Label {
	text := words.SI(at.FlopsPerSecond, "FLOP/s")
	if most := p.Attainable(at); most > 0 {
		text += ", " + share(at.FlopsPerSecond/most) + " of the roof"
	}
	return chart.Label{Text: text, Align: chart.Start}
}

// labelPoint writes labels near a point where there is space, with a line to the point if they are
// not close.
func (p *plot) labelPoint(of Point, labels ...chart.Label) {
	at := p.place(of)
	width, height := 0.0, float64(len(labels))*12.5
	for _, w := range labels {
		width = max(width, w.Width()*1.1) // a page's own font may be slightly wider
	}
	box, ok := p.room.put(at, width, height)
	if !ok {
		return
	}
	near := chart.At(min(max(at.X, box.x), box.x+width), min(max(at.Y, box.y), box.y+height))
	if math.Hypot(near.X-at.X, near.Y-at.Y) > 14 {
		p.Line(chart.Soft, 1, toward(at, near, p.radius()+1), toward(near, at, 2))
	}
	for n, w := range labels {
		tone, x := chart.Ink, box.x
		if n > 0 {
			tone = chart.Soft
		}
		if box.x+width < at.X { // left of its point: the text ends there
			w.Align, x = chart.End, box.x+width
		}
		p.Write(tone, chart.At(x, box.y+10+float64(n)*12.5), w)
	}
}

// names lists the numbered cases below the plot.
func (p *plot) names() {
	const rowHeight, gap = 14.0, 18.0
	top := p.Height + 18
	rows := (len(p.Cases) + 1) / 2
	column := (p.Width - gap) / 2
	if len(p.Memory)+len(p.Compute) > 0 {
		for _, end := range []float64{column, p.Width} {
			p.Print(chart.Soft, chart.At(end, top), chart.Label{Text: "of the roof", Align: chart.End})
		}
	}
	for i, sides := range p.Cases {
		last := sides[len(sides)-1]
		x, y := float64(i/rows)*(column+gap), top+float64(i%rows+1)*rowHeight
		p.Print(chart.Ink, chart.At(x+14, y), chart.Label{Text: strconv.Itoa(i + 1), Align: chart.End, Bold: true})
		p.Print(chart.Ink, chart.At(x+20, y), chart.Label{Text: last.Name, Align: chart.Start, Most: column - 132})
		p.Print(chart.Soft, chart.At(x+column-38, y), chart.Label{Text: words.SI(last.FlopsPerSecond, "FLOP/s"), Align: chart.End})
		if most := p.Attainable(last); most > 0 {
			p.Print(chart.Ink, chart.At(x+column, y), chart.Label{Text: share(last.FlopsPerSecond / most), Align: chart.End})
		}
	}
	p.Height = top + float64(rows)*rowHeight + 4
}
