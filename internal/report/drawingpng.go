package report

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// toneColors are the tones on a white background.
var toneColors = [...]color.RGBA{
	toneInk: dark, toneSoft: soft, toneLine: hairline, toneFaint: {0xf3, 0xf5, 0xf7, 0xff},
	toneBase: {0x7b, 0x87, 0x94, 0xff}, toneNow: {0x0b, 0x57, 0xd0, 0xff}, toneRef: {0x8e, 0x5b, 0xb5, 0xff},
	toneBad: red, toneGood: green,
}

// paint draws d on a canvas with its corner at x, y; scale is in pixels per unit.
func (d *drawing) paint(c *canvas, x, y, scale float64) {
	p := &painter{canvas: c, at: point{x, y}, scale: scale}
	for _, m := range d.marks {
		p.mark(m)
	}
}

// painter fills shapes on a canvas with antialiased edges.
type painter struct {
	*canvas
	at    point
	scale float64
}

func (p *painter) mark(m mark) {
	fill := toneColors[m.tone]
	switch m.kind {
	case markLine:
		for i := 1; i < len(m.points); i++ {
			p.segment(m.points[i-1], m.points[i], m.wide, m.dashed, fill)
		}
	case markArea:
		p.fill(fill, p.placed(m.points))
	case markDot:
		p.fill(fill, circle(p.place(m.points[0]), m.wide*p.scale))
		if m.hollow {
			p.fill(paper, circle(p.place(m.points[0]), (m.wide-1.6)*p.scale))
		}
	case markWord:
		if m.halo {
			for i := range 12 {
				angle := float64(i) * math.Pi / 6
				p.word(point{m.points[0].x + 1.6*math.Cos(angle), m.points[0].y + 1.6*math.Sin(angle)}, m.word, paper)
			}
		}
		p.word(m.points[0], m.word, fill)
	}
}

func (p *painter) place(at point) point {
	return point{p.at.x + at.x*p.scale, p.at.y + at.y*p.scale}
}

func (p *painter) placed(points []point) []point {
	list := make([]point, len(points))
	for i, at := range points {
		list[i] = p.place(at)
	}
	return list
}

// segment draws a straight line, solid or dashed.
func (p *painter) segment(from, to point, wide float64, dashed bool, fill color.RGBA) {
	length := math.Hypot(to.x-from.x, to.y-from.y)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return
	}
	ux, uy := (to.x-from.x)/length, (to.y-from.y)/length
	step, piece := length, length
	if dashed {
		step, piece = 7, 4
	}
	for at := 0.0; at < length; at += step {
		end := min(at+piece, length)
		nx, ny := -uy*wide/2, ux*wide/2
		a, b := point{from.x + ux*at, from.y + uy*at}, point{from.x + ux*end, from.y + uy*end}
		p.fill(fill, p.placed([]point{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}}))
	}
}

func circle(at point, radius float64) []point {
	const corners = 48
	list := make([]point, corners)
	for i := range list {
		angle := 2 * math.Pi * float64(i) / corners
		list[i] = point{at.x + radius*math.Cos(angle), at.y + radius*math.Sin(angle)}
	}
	return list
}

// fill fills polygons, given in pixels of the canvas.
func (p *painter) fill(fill color.RGBA, shapes ...[]point) {
	box := bounds(shapes).Intersect(p.Bounds())
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, o := range shapes {
		for i, at := range o {
			x, y := float32(at.x-float64(box.Min.X)), float32(at.y-float64(box.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(p.RGBA, box, image.NewUniform(fill), image.Point{})
}

// bounds returns the pixel box that contains the shapes; empty if a coordinate is not a
// number.
func bounds(shapes [][]point) image.Rectangle {
	const far = 1 << 20
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, o := range shapes {
		for _, at := range o {
			if !(math.Abs(at.x) < far) || !(math.Abs(at.y) < far) {
				return image.Rectangle{}
			}
			low, high = point{min(low.x, at.x), min(low.y, at.y)}, point{max(high.x, at.x), max(high.y, at.y)}
		}
	}
	if low.x > high.x {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(low.x)), int(math.Floor(low.y)), int(math.Ceil(high.x))+1, int(math.Ceil(high.y))+1)
}

// word fills the outlines of letters, rotated about the position of the text.
func (p *painter) word(at point, w word, fill color.RGBA) {
	start := 0.0
	switch w.anchor {
	case atStart:
	case atMiddle:
		start = -w.width() / 2
	case atEnd:
		start = -w.width()
	}
	sin, cos := math.Sincos(w.angle * math.Pi / 180)
	size := w.size() / fontUnitsPerPixel
	f, buffer := outlines()[w.face()], &sfnt.Buffer{}
	var shapes [][]point
	for _, r := range w.text {
		glyph, err := f.GlyphIndex(buffer, r)
		if err != nil {
			continue
		}
		segments, err := f.LoadGlyph(buffer, glyph, fixed.Int26_6(fontUnitsPerPixel*64), nil)
		if err != nil {
			continue
		}
		shapes = append(shapes, glyphShapes(segments, func(x, y float64) point {
			x, y = start+x*size, y*size
			return p.place(point{at.x + x*cos - y*sin, at.y + x*sin + y*cos})
		})...)
		start += textWidth(w.face(), w.size(), string(r))
	}
	p.fill(fill, shapes...)
}

// glyphShapes flattens the curves of a letter into lines too short to be visible.
func glyphShapes(segments sfnt.Segments, place func(x, y float64) point) [][]point {
	var shapes [][]point
	var last fixed.Point26_6
	at := func(v fixed.Point26_6) point { return place(float64(v.X)/64, float64(v.Y)/64) }
	for _, s := range segments {
		n := len(shapes) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			shapes, last = append(shapes, []point{at(s.Args[0])}), s.Args[0]
		case sfnt.SegmentOpLineTo:
			shapes[n], last = append(shapes[n], at(s.Args[0])), s.Args[0]
		case sfnt.SegmentOpQuadTo:
			a, b, c := at(last), at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= 6; i++ {
				t := float64(i) / 6
				u := 1 - t
				shapes[n] = append(shapes[n], point{u*u*a.x + 2*u*t*b.x + t*t*c.x, u*u*a.y + 2*u*t*b.y + t*t*c.y})
			}
			last = s.Args[1]
		case sfnt.SegmentOpCubeTo: // the Go fonts have none
			shapes[n], last = append(shapes[n], at(s.Args[2])), s.Args[2]
		}
	}
	return shapes
}
