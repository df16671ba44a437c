package web

import (
	"math"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// plot is a chart of values over time, at one size. Its text does not shrink with the screen, so each
// chart is drawn once for wide screens and once for phones, and the style sheet shows the one that fits.
type plot struct {
	*chart.SVG
	from, to                 time.Time
	y                        chart.Scale
	left, right, top, bottom float64
}

// sizes lists the sizes at which each chart is drawn.
var sizes = []struct {
	class         string
	width, height float64
	buckets       int
}{
	{"chart wide", 960, 300, 300},
	{"chart narrow", 360, 230, 90},
}

// newPlot returns a plot over time for values between low and high in a unit.
func newPlot(class string, width, height float64, from, to time.Time, low, high float64, unit string) *plot {
	p := newFrame(class, width, height, from, to, low, high, unit)
	p.dates()
	return p
}

// newFrame is newPlot without marks at the horizontal axis.
func newFrame(class string, width, height float64, from, to time.Time, low, high float64, unit string) *plot {
	if !(high > low) {
		half := max(math.Abs(low)*0.005, 1e-9) // draws a constant line in the middle
		low, high = low-half, low+half
	}
	pad := (high - low) * 0.06
	p := &plot{SVG: chart.NewSVG(class, width, height), from: from, to: to, left: 52, right: 12, top: 22, bottom: 24}
	p.y = chart.Scale{Low: low - pad, High: high + pad, From: height - p.bottom, To: p.top}
	if !p.to.After(p.from) {
		p.from, p.to = p.from.Add(-12*time.Hour), p.from.Add(12*time.Hour)
	}
	p.Rows(p.y, p.left, width-p.right, 4, unit)
	p.Path("axis", chart.Move(p.left, height-p.bottom)+"H"+chart.Coord(width-p.right))
	return p
}

// dates marks round dates at the horizontal axis.
func (p *plot) dates() {
	for _, at := range days(p.from, p.to, int(p.Width/110)) {
		p.mark(at)
	}
}

// commits marks some commits at the horizontal axis, whose positions are seconds from 0.
func (p *plot) commits(list []client.StoredPoint) {
	every := max(1, len(list)*110/int(p.Width))
	for i := every / 2; i < len(list); i += every {
		p.mark(dayMark{time.Unix(int64(i), 0), short(list[i].Commit)})
	}
}

func (p *plot) mark(at dayMark) {
	x := p.x(at.time)
	p.Path("axis", chart.Move(x, p.Height-p.bottom)+"v4")
	p.Text(min(x, p.Width-30), p.Height-7, "c", at.text)
}

func (p *plot) x(t time.Time) float64 {
	return p.left + t.Sub(p.from).Seconds()/p.to.Sub(p.from).Seconds()*(p.Width-p.left-p.right)
}

type dayMark struct {
	time time.Time
	text string
}

// days returns at most n round dates between from and to.
func days(from, to time.Time, n int) []dayMark {
	from, to = from.UTC(), to.UTC()
	var marks []dayMark
	span := to.Sub(from)
	switch {
	case span <= 48*time.Hour:
		step := max(span/time.Duration(n), time.Hour).Round(time.Hour)
		for t := from.Truncate(step).Add(step); t.Before(to); t = t.Add(step) {
			marks = append(marks, dayMark{t, t.Format("02 15:04")})
		}
	case span <= time.Duration(n)*28*24*time.Hour:
		step := max(1, int(math.Ceil(span.Hours()/24/float64(n))))
		first := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, time.UTC)
		for t := first.AddDate(0, 0, 1); t.Before(to); t = t.AddDate(0, 0, step) {
			marks = append(marks, dayMark{t, t.Format("2 Jan")})
		}
	default:
		step := max(1, int(math.Ceil(span.Hours()/24/30.4/float64(n))))
		for t := time.Date(from.Year(), from.Month()+1, 1, 0, 0, 0, 0, time.UTC); t.Before(to); t = t.AddDate(0, step, 0) {
			text := t.Format("Jan 2006")
			marks = append(marks, dayMark{t, text})
		}
	}
	return marks
}
