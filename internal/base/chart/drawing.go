// Package chart draws figures: lines, areas, dots and text. A Drawing is laid out once and
// rendered as SVG for pages or as pixels for images; an SVG is written directly, in the
// classes of the page around it. The package has the colors, fonts, scales and ticks that
// all figures share. It must not know what a figure shows.
package chart

import (
	"math"
	"slices"
)

// Drawing is a figure independent of its output. Its unit is one pixel of a page.
type Drawing struct {
	Width, Height float64
	marks         []mark
}

// PhoneWidth is the width of a figure that must be readable on the smallest screen. Larger
// screens stretch it.
const PhoneWidth = 340.0

// New starts a figure of the given size.
func New(width, height float64) *Drawing { return &Drawing{Width: width, Height: height} }

// Point is a position in a figure; X grows to the right, Y down.
type Point struct{ X, Y float64 }

// At returns the point at x, y.
func At(x, y float64) Point { return Point{x, y} }

// Tone is the meaning of a color. Light pages, dark pages and images map it to their own
// color.
type Tone int

// The tones of a figure.
const (
	Ink Tone = iota
	Soft
	Rule
	Faint
	Base
	Now
	Other // a third kind, besides base and now
	Bad
	Good
	Open // undecided; images only
)

// mark is one drawn element: a line, an area, a dot or a text.
type mark struct {
	kind   markKind
	points []Point
	tone   Tone
	wide   float64 // width of a line, or radius of a dot
	dashed bool
	hollow bool // a dot filled with the background
	light  bool // an area in a lighter color
	halo   bool // a background outline that hides lines behind the text
	label  Label
}

type markKind int

const (
	markLine markKind = iota
	markArea
	markDot
	markText
)

func (d *Drawing) add(m mark) { d.marks = append(d.marks, m) }

// Line draws a line through points; wide is 1, 1.5 or 2.
func (d *Drawing) Line(t Tone, wide float64, points ...Point) {
	d.add(mark{kind: markLine, points: points, tone: t, wide: wide})
}

// Dashes draws a dashed line.
func (d *Drawing) Dashes(t Tone, wide float64, points ...Point) {
	d.add(mark{kind: markLine, points: points, tone: t, wide: wide, dashed: true})
}

// Area fills a polygon.
func (d *Drawing) Area(t Tone, points ...Point) {
	d.add(mark{kind: markArea, points: points, tone: t})
}

// Bar draws a filled box.
func (d *Drawing) Bar(t Tone, x, y, width, height float64) {
	d.Area(t, box(x, y, width, height)...)
}

// LightBar draws a box in a lighter color.
func (d *Drawing) LightBar(t Tone, x, y, width, height float64) {
	d.add(mark{kind: markArea, points: box(x, y, width, height), tone: t, light: true})
}

func box(x, y, width, height float64) []Point {
	return []Point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}
}

// Dot draws a circle, filled or hollow.
func (d *Drawing) Dot(t Tone, at Point, radius float64, hollow bool) {
	d.add(mark{kind: markDot, points: []Point{at}, tone: t, wide: radius, hollow: hollow})
}

// Arrow draws a line with a head at its end. A very short one is left out.
func (d *Drawing) Arrow(t Tone, from, to Point) {
	length := math.Hypot(to.X-from.X, to.Y-from.Y)
	if length < 3 {
		return
	}
	ux, uy := (to.X-from.X)/length, (to.Y-from.Y)/length
	head := min(7, length)
	half := 0.46 * head
	neck := Point{to.X - ux*head, to.Y - uy*head}
	d.Line(t, 1.5, from, neck)
	d.Area(t, to, Point{neck.X - uy*half, neck.Y + ux*half}, Point{neck.X + uy*half, neck.Y - ux*half})
}

// Write draws text with its baseline at a position, and an outline in the color of the
// background that hides lines behind it.
func (d *Drawing) Write(t Tone, at Point, l Label) {
	d.add(mark{kind: markText, points: []Point{at}, tone: t, label: l.Fit(l.Most), halo: true})
}

// Print draws text without an outline, for places where nothing is behind it.
func (d *Drawing) Print(t Tone, at Point, l Label) {
	d.add(mark{kind: markText, points: []Point{at}, tone: t, label: l.Fit(l.Most)})
}

// PrintLines prints lines of text below each other, each step further down, and returns the
// baseline of the last one.
func (d *Drawing) PrintLines(t Tone, at Point, step float64, lines []string, l Label) float64 {
	for _, l.Text = range lines {
		at.Y += step
		d.Print(t, at, l)
	}
	return at.Y
}

// Include copies another drawing into d.
func (d *Drawing) Include(other *Drawing, x, y float64) {
	for _, m := range other.marks {
		m.points = slices.Clone(m.points)
		for i := range m.points {
			m.points[i].X += x
			m.points[i].Y += y
		}
		d.add(m)
	}
}
