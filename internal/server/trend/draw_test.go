package trend_test

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

const (
	drawWidth, drawHeight                 = 860.0, 300.0
	drawLeft, drawRight, drawTop, drawLow = 84.0, 20.0, 46.0, 34.0
)

// draw is a picture of a history: its points, its levels, and a numbered mark at each
// event. It needs no fonts, scripts or network, and follows the reader's choice of light
// or dark.
func (r recording) draw(f trend.Result) string {
	sorted := slices.Clone(r.values)
	slices.Sort(sorted)
	lo, hi := sorted[len(sorted)/200], sorted[len(sorted)-1-len(sorted)/200] // a few outliers may lie beyond the frame
	lo, hi = lo-(hi-lo)/10, hi+(hi-lo)/10
	x := func(i int) float64 {
		return drawLeft + float64(i)/float64(len(r.values)-1)*(drawWidth-drawLeft-drawRight)
	}
	y := func(v float64) float64 {
		return drawHeight - drawLow - (min(max(v, lo), hi)-lo)/(hi-lo)*(drawHeight-drawLow-drawTop)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", drawWidth, drawHeight, html.EscapeString(r.title))
	b.WriteString(`<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}.paper{fill:#fff}.grid{stroke:#d0d7de}.dot{stroke:#8a8d91;stroke-width:2.8;stroke-linecap:round}
.level{fill:none;stroke-width:2;stroke:#2f6fb3}.worse{stroke:#d1495b;stroke-dasharray:4 3}.better{stroke:#2a9d5c;stroke-dasharray:4 3}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}}
</style>
`)
	fmt.Fprintf(&b, `<rect class="paper" width="%.0f" height="%.0f"/><text x="%.0f" y="20" font-weight="600">%s</text>`+"\n", drawWidth, drawHeight, drawLeft, html.EscapeString(r.title))
	for k := range 5 {
		v := lo + (hi-lo)*float64(k)/4
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %.1fH%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%.4g</text>`+"\n", drawLeft, y(v), drawWidth-drawRight, drawLeft-6, y(v)+4, v)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">first</text><text x="%.1f" y="%.1f" text-anchor="end">point %d</text><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
		drawLeft, drawHeight-12, drawWidth-drawRight, drawHeight-12, len(r.values)-1, drawWidth/2, drawHeight-12, html.EscapeString(r.unit))
	b.WriteString(`<path class="dot" d="`)
	for i, v := range r.values {
		fmt.Fprintf(&b, "M%.1f %.1fh0", x(i), y(v))
	}
	b.WriteString(`"/>` + "\n")
	for i, e := range f.Events {
		class := "better"
		if e.Worse {
			class = "worse"
		}
		if e.Kind == trend.Drift {
			if i > 0 && f.Events[i-1].Kind == trend.Step {
				fmt.Fprintf(&b, `<path class="level" d="M%.1f %.1fH%.1f"/>`+"\n", x(f.Events[i-1].First), y(f.Events[i-1].After), x(e.First))
			}
			fmt.Fprintf(&b, `<path class="level" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x(e.First), y(e.Before), x(e.Last), y(e.After))
		} else {
			from := 0
			if i > 0 {
				from = f.Events[i-1].First
			}
			if i == 0 || f.Events[i-1].Kind == trend.Step {
				fmt.Fprintf(&b, `<path class="level" d="M%.1f %.1fH%.1f"/>`+"\n", x(from), y(e.Before), x(e.First))
			}
			if i == len(f.Events)-1 {
				fmt.Fprintf(&b, `<path class="level" d="M%.1f %.1fH%.1f"/>`+"\n", x(e.First), y(e.After), x(e.Last))
			}
		}
		fmt.Fprintf(&b, `<path class="%s" d="M%.1f %.1fV%.1f"/><text x="%.1f" y="%.1f" text-anchor="middle" font-size="11">%d</text>`+"\n", class, x(e.First), drawTop-4, drawHeight-drawLow, x(e.First), drawTop-8, i+1)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
