package artifact

import "github.com/goatnote-inc/pawl/internal/base/chart"

// colors are distinguishable with color blindness (Okabe and Ito, 2008).
var colors = [...]string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"}

// shapes are centered on the origin and similar in size, for prints without color.
var shapes = [...]string{
	"M-3 0A3 3 0 1 0 3 0A3 3 0 1 0 -3 0Z",
	"M-2.7 -2.7H2.7V2.7H-2.7Z",
	"M0 -4L4 0L0 4L-4 0Z",
	"M0 -3.7L3.5 2.6H-3.5Z",
	"M0 3.7L3.5 -2.6H-3.5Z",
}

// markStyle is the color and shape of an implementation, the same in all figures of a sweep.
type markStyle struct{ colour, shape string }

func lookOf(i int) markStyle { return markStyle{colors[i%len(colors)], shapes[i%len(shapes)]} }

// drawMark draws a value with its interval. It is hollow if not sure.
func drawMark(s *chart.SVG, l markStyle, x, y, low, high float64, sure bool) {
	if high > low {
		s.Addf(`<path d="%sH%s%sv8%sv8" stroke="%s" stroke-width="1.5" fill="none"/>`,
			chart.Move(low, y), chart.Coord(high), chart.Move(low, y-4), chart.Move(high, y-4), l.colour)
	}
	fill := l.colour
	if !sure {
		fill = "#fff"
	}
	s.Addf(`<path d="%s" transform="translate(%s %s)" fill="%s" stroke="%s" stroke-width="1.5"/>`, l.shape, chart.Coord(x), chart.Coord(y), fill, l.colour)
}
