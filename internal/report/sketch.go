package report

import "github.com/goatnote-inc/pawl/internal/base/chart"

// The names under which package learn uses chart.
type (
	Sketch = chart.Drawing
	Place  = chart.Point
	Tone   = chart.Tone
	Label  = chart.Label
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
