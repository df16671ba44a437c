package lab

import (
	"fmt"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// Plot is a small line chart, with only the features that the pages of figures need.
type Plot struct {
	Name, Title, X, Y string
	Right, Top        float64 // ends of the axes, which start at 0
	YTicks            []float64
	Lines             []Line
	Note              string // label of the vertical mark; empty for no mark
	Mark              float64
}

// Line is a named line with its points from left to right.
type Line struct {
	Name   string
	Strong bool
	Points [][2]float64
}

// Dimensions of the drawing, in SVG units.
const (
	plotWidth, plotHeight                 = 860, 460
	plotLeft, plotRight, plotTop, plotLow = 64, 250, 44, 52
)

const plotStyle = `
text{font:13px system-ui,sans-serif;fill:#1f2328}.c{text-anchor:middle}.e{text-anchor:end}.title{font-weight:600}.note{font-size:11px}
.page{fill:#fff}.grid{stroke:#d0d7de}.mark{stroke:#57606a;stroke-dasharray:4 4}
.line{fill:none;stroke-width:1.6}.strong{stroke-width:3.2}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.grid{stroke:#30363d}.mark{stroke:#8b949e}}
`

// colors are distinguishable to most readers, on light and dark backgrounds.
var colors = []string{"#d1495b", "#2f6fb3", "#2a9d5c", "#b0722b", "#7d57c1", "#0f8b8d", "#8a8d91", "#c2569b", "#6b8e23", "#4b5d67", "#e08e45"}

// SVG returns the plot as a file. It needs no fonts, scripts or network, and follows the reader's light
// or dark theme.
func (p Plot) SVG() string {
	x := chart.Scale{High: p.Right, From: plotLeft, To: plotWidth - plotRight}
	y := chart.Scale{High: p.Top, From: plotHeight - plotLow, To: plotTop}
	s := chart.NewFile(plotWidth, plotHeight, 1, p.Title, p.Y+", by "+p.X, plotStyle)
	s.Text(plotLeft, 24, "title", p.Title)
	for _, v := range p.YTicks {
		s.Path("grid", chart.Move(x.From, y.At(v))+"H"+chart.Coord(x.To))
		s.Text(x.From-8, y.At(v)+4, "e", fmt.Sprintf("%g", v))
	}
	for _, v := range x.Ticks(10) {
		s.Text(x.At(v), y.From+20, "c", fmt.Sprintf("%g", v))
	}
	s.Text((x.From+x.To)/2, plotHeight-12, "c", p.X)
	s.Addf(`<g transform="translate(18 %s) rotate(-90)">`, chart.Coord((y.From+y.To)/2))
	s.Text(0, 0, "c", p.Y)
	s.Addf("</g>")
	if p.Note != "" {
		s.Path("mark", chart.Move(x.At(p.Mark), y.From)+"V"+chart.Coord(y.To))
		s.Text(x.At(p.Mark), y.To-5, "note c", p.Note)
	}
	for i, l := range p.Lines {
		var t chart.Trace
		for _, at := range l.Points {
			t.To(x.At(at[0]), y.Within(at[1]))
		}
		// The name is beside the plot. Dash patterns distinguish lines without color.
		row := float64(plotTop + 10 + 24*i)
		style := fmt.Sprintf(`class="line" stroke="%s"`, colors[i%len(colors)])
		if l.Strong {
			style = fmt.Sprintf(`class="line strong" stroke="%s"`, colors[i%len(colors)])
		} else if i%3 > 0 {
			style += fmt.Sprintf(` stroke-dasharray="%s"`, []string{"", "7 3", "2 3"}[i%3])
		}
		s.Addf(`<path %s d="%s"/><path %s d="%sh28"/>`, style, t.String(), style, chart.Move(x.To+18, row))
		s.Text(x.To+54, row+4, "", l.Name)
	}
	return s.File()
}
