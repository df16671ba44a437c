package report

import "github.com/goatnote-inc/pawl/internal/base/chart"

// Package learn uses chart under these names until it imports it.
type (
	// Sketch is a figure.
	Sketch = chart.Drawing
	// Place is a position in a figure.
	Place = chart.Point
	// Tone is the meaning of a color.
	Tone = chart.Tone
	// Label is a text and its layout.
	Label = chart.Label
)

// The tones of chart.
const (
	Ink   = chart.Ink
	Soft  = chart.Soft
	Rule  = chart.Rule
	Faint = chart.Faint
	Base  = chart.Base
	Now   = chart.Now
	Other = chart.Other
	Bad   = chart.Bad
	Good  = chart.Good

	SketchWidth = chart.PhoneWidth
)

// NewSketch is chart.New.
func NewSketch(width, height float64) *Sketch { return chart.New(width, height) }

// SmallLines is chart.Lines for small text.
func SmallLines(text string, most float64, atMost int) []string {
	return chart.Lines(chart.SmallText, text, most, atMost)
}

// Ticks is chart.Ticks.
func Ticks(low, high float64, n int) []float64 { return chart.Ticks(low, high, n) }
