package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

var paper = color.RGBA{0xff, 0xff, 0xff, 0xff}

// toneColors are the tones on a white background.
var toneColors = [...]color.RGBA{
	Ink: {0x14, 0x17, 0x1c, 0xff}, Soft: {0x5f, 0x67, 0x74, 0xff}, Rule: {0xdf, 0xe2, 0xe7, 0xff}, Faint: {0xf3, 0xf5, 0xf7, 0xff},
	Base: {0x73, 0x7b, 0x88, 0xff}, Now: {0x1d, 0x63, 0xe0, 0xff}, Other: {0x8a, 0x3f, 0xc7, 0xff},
	Bad: {0xb3, 0x26, 0x1a, 0xff}, Good: {0x08, 0x65, 0x5a, 0xff}, Open: {0x7d, 0x4b, 0x00, 0xff},
}

// scale is how many pixels of an image a unit of a drawing has, for sharp screens.
const scale = 2

// PNG writes the figure as an image on white, twice as wide and high as the figure.
func (d *Drawing) PNG(w io.Writer) error {
	p := painter{image.NewRGBA(image.Rect(0, 0, int(math.Ceil(scale*d.Width)), int(math.Ceil(scale*d.Height))))}
	draw.Draw(p.RGBA, p.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	for _, m := range d.marks {
		p.mark(m)
	}
	if err := png.Encode(w, p.RGBA); err != nil {
		return fmt.Errorf("cannot write picture: %w", err)
	}
	return nil
}

// far is the length and the coordinate above which nothing is drawn.
const far = 1 << 20

// painter fills shapes with antialiased edges.
type painter struct{ *image.RGBA }

func (p painter) mark(m mark) {
	fill, at := toneColors[m.tone], m.points[0]
	switch m.kind {
	case markLine:
		for i := 1; i < len(m.points); i++ {
			p.segment(m.points[i-1], m.points[i], m.wide, m.dashed, fill)
		}
	case markArea:
		if m.light {
			lighten := func(v uint8) uint8 { return uint8((int(v) + 2*0xff) / 3) }
			fill.R, fill.G, fill.B = lighten(fill.R), lighten(fill.G), lighten(fill.B)
		}
		p.fill(fill, m.points)
	case markDot:
		p.fill(fill, circle(at, m.wide))
		if m.hollow {
			p.fill(paper, circle(at, m.wide-1.6))
		}
	case markText:
		if m.halo {
			for i := range 12 {
				sin, cos := math.Sincos(float64(i) * math.Pi / 6)
				p.text(Point{at.X + 1.6*cos, at.Y + 1.6*sin}, m.label, paper)
			}
		}
		p.text(at, m.label, fill)
	}
}

// segment draws a straight line, solid or dashed.
func (p painter) segment(from, to Point, wide float64, dashed bool, fill color.RGBA) {
	length := math.Hypot(to.X-from.X, to.Y-from.Y)
	if !(length > 0 && length < far) {
		return
	}
	ux, uy := (to.X-from.X)/length, (to.Y-from.Y)/length
	step, piece := length, length
	if dashed {
		step, piece = 7, 4
	}
	for at := 0.0; at < length; at += step {
		end := min(at+piece, length)
		nx, ny := -uy*wide/2, ux*wide/2
		a, b := Point{from.X + ux*at, from.Y + uy*at}, Point{from.X + ux*end, from.Y + uy*end}
		p.fill(fill, []Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny}, {a.X - nx, a.Y - ny}})
	}
}

func circle(at Point, radius float64) []Point {
	const corners = 48
	list := make([]Point, corners)
	for i := range list {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		list[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return list
}

// fill fills polygons, given in units of the drawing.
func (p painter) fill(fill color.RGBA, shapes ...[]Point) {
	box := bounds(shapes).Intersect(p.Bounds())
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, o := range shapes {
		for i, at := range o {
			x, y := float32(scale*at.X-float64(box.Min.X)), float32(scale*at.Y-float64(box.Min.Y))
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
func bounds(shapes [][]Point) image.Rectangle {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, o := range shapes {
		for _, at := range o {
			x, y := scale*at.X, scale*at.Y
			if !(math.Abs(x) < far) || !(math.Abs(y) < far) {
				return image.Rectangle{}
			}
			low, high = Point{min(low.X, x), min(low.Y, y)}, Point{max(high.X, x), max(high.Y, y)}
		}
	}
	if low.X > high.X {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X))+1, int(math.Ceil(high.Y))+1)
}

// text fills the outlines of letters, rotated about the position of the text.
func (p painter) text(at Point, l Label, fill color.RGBA) {
	start := -float64(l.Align+1) / 2 * l.Width()
	sin, cos := math.Sincos(l.Angle * math.Pi / 180)
	size := l.size() / fontUnitsPerPixel
	f, buffer := outlines()[l.font()], &sfnt.Buffer{}
	var shapes [][]Point
	for _, r := range l.Text {
		glyph, err := f.GlyphIndex(buffer, r)
		if err != nil {
			continue
		}
		segments, err := f.LoadGlyph(buffer, glyph, fixed.Int26_6(fontUnitsPerPixel*64), nil)
		if err != nil {
			continue
		}
		shapes = append(shapes, glyphShapes(segments, func(x, y float64) Point {
			x, y = start+x*size, y*size
			return Point{at.X + x*cos - y*sin, at.Y + x*sin + y*cos}
		})...)
		start += textWidth(l.font(), l.size(), string(r))
	}
	p.fill(fill, shapes...)
}

// glyphShapes flattens the curves of a letter into lines too short to be visible.
func glyphShapes(segments sfnt.Segments, place func(x, y float64) Point) [][]Point {
	var shapes [][]Point
	var last fixed.Point26_6
	at := func(v fixed.Point26_6) Point { return place(float64(v.X)/64, float64(v.Y)/64) }
	for _, s := range segments {
		n := len(shapes) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			shapes, last = append(shapes, []Point{at(s.Args[0])}), s.Args[0]
		case sfnt.SegmentOpLineTo:
			shapes[n], last = append(shapes[n], at(s.Args[0])), s.Args[0]
		case sfnt.SegmentOpQuadTo:
			a, b, c := at(last), at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= 6; i++ {
				t := float64(i) / 6
				u := 1 - t
				shapes[n] = append(shapes[n], Point{u*u*a.X + 2*u*t*b.X + t*t*c.X, u*u*a.Y + 2*u*t*b.Y + t*t*c.Y})
			}
			last = s.Args[1]
		case sfnt.SegmentOpCubeTo: // the Go fonts have none
			shapes[n], last = append(shapes[n], at(s.Args[2])), s.Args[2]
		}
	}
	return shapes
}
