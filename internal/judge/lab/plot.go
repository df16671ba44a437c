package lab

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Plot is a small line chart, with only the features that the pages of figures need.
type Plot struct {
	Name, Title, X, Y string
	Left, Right, Top  float64 // ends of the axes; the vertical one starts at 0
	XTicks, YTicks    []float64
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

// colors are distinguishable to most readers, on light and dark backgrounds.
var colors = []string{"#d1495b", "#2f6fb3", "#2a9d5c", "#b0722b", "#7d57c1", "#0f8b8d", "#8a8d91", "#c2569b", "#6b8e23", "#4b5d67", "#e08e45"}

func (p Plot) x(v float64) float64 {
	return plotLeft + (v-p.Left)/(p.Right-p.Left)*(plotWidth-plotLeft-plotRight)
}

func (p Plot) y(v float64) float64 {
	return plotHeight - plotLow - v/p.Top*(plotHeight-plotLow-plotTop)
}

// SVG writes the plot. It needs no fonts, scripts or network, and follows the reader's light or dark
// theme.
func (p Plot) SVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", plotWidth, plotHeight, html.EscapeString(p.Title))
	b.WriteString(`<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}
.paper{fill:#fff}.grid{stroke:#d0d7de}.mark{stroke:#57606a;stroke-dasharray:4 4}
.line{fill:none;stroke-width:1.6}.strong{stroke-width:3.2}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}.mark{stroke:#8b949e}}
</style>
`)
	fmt.Fprintf(&b, `<rect class="paper" width="%d" height="%d"/>`+"\n", plotWidth, plotHeight)
	text := func(x, y float64, anchor, extra, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, extra, html.EscapeString(s))
	}
	text(plotLeft, 24, "start", ` font-weight="600"`, p.Title)
	for _, v := range p.YTicks {
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %.1fH%.1f"/>`+"\n", p.x(p.Left), p.y(v), p.x(p.Right))
		text(plotLeft-8, p.y(v)+4, "end", "", fmt.Sprintf("%g", v))
	}
	for _, v := range p.XTicks {
		text(p.x(v), plotHeight-plotLow+20, "middle", "", fmt.Sprintf("%g", v))
	}
	text((p.x(p.Left)+p.x(p.Right))/2, plotHeight-12, "middle", "", p.X)
	fmt.Fprintf(&b, `<text transform="translate(18 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (p.y(0)+p.y(p.Top))/2, html.EscapeString(p.Y))
	if p.Note != "" {
		fmt.Fprintf(&b, `<path class="mark" d="M%.1f %.1fV%.1f"/>`+"\n", p.x(p.Mark), p.y(0), p.y(p.Top))
		text(p.x(p.Mark), p.y(p.Top)-5, "middle", ` font-size="11"`, p.Note)
	}
	for i, l := range p.Lines {
		p.line(&b, i, l)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// line draws a line, and its name beside the plot. Dash patterns distinguish lines without color.
func (p Plot) line(b *strings.Builder, i int, l Line) {
	style := fmt.Sprintf(`class="line" stroke="%s"`, colors[i%len(colors)])
	if l.Strong {
		style = fmt.Sprintf(`class="line strong" stroke="%s"`, colors[i%len(colors)])
	} else if i%3 > 0 {
		style += fmt.Sprintf(` stroke-dasharray="%s"`, []string{"", "7 3", "2 3"}[i%3])
	}
	points := make([]string, len(l.Points))
	for k, at := range l.Points {
		points[k] = fmt.Sprintf("%.1f,%.1f", p.x(at[0]), p.y(min(at[1], p.Top)))
	}
	fmt.Fprintf(b, `<polyline %s points="%s"><title>%s</title></polyline>`+"\n", style, strings.Join(points, " "), html.EscapeString(l.Name))
	y := float64(plotTop + 10 + 24*i)
	from := float64(plotWidth - plotRight + 18)
	fmt.Fprintf(b, `<path %s d="M%.1f %.1fh28"/><text x="%.1f" y="%.1f">%s</text>`+"\n", style, from, y, from+36, y+4, html.EscapeString(l.Name))
}
