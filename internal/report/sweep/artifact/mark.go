package artifact

import "unicode/utf8"

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

// mark draws a value with its interval. It is hollow if not sure.
func (s *svg) mark(l markStyle, x, y, low, high float64, sure bool) {
	if high > low {
		s.addf(`<path d="M%s %sH%sM%s %sv8M%s %sv8" stroke="%s" stroke-width="1.5" fill="none"/>`+"\n",
			px(low), px(y), px(high), px(low), px(y-4), px(high), px(y-4), l.colour)
	}
	fill := l.colour
	if !sure {
		fill = "#fff"
	}
	s.addf(`<path d="%s" transform="translate(%s %s)" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", l.shape, px(x), px(y), fill, l.colour)
}

// legendRow is the height of a legend row.
const legendRow = 18

// legend arranges the looks in rows, each at most as wide as the chart.
func legend(names []string, width float64) (places []place, height float64) {
	at, row := 0.0, 0.0
	for _, name := range names {
		space := 30 + 7*float64(min(utf8.RuneCountInString(name), maxLegendName))
		if at+space > width && at > 0 {
			at, row = 0, row+legendRow
		}
		places = append(places, place{at, row})
		at += space
	}
	return places, row + legendRow
}

// maxLegendName is the max number of characters of a name in the legend.
const maxLegendName = 30

type place struct{ x, y float64 }

func (s *svg) legend(x, y float64, names []string, looks []markStyle, places []place) {
	for i, name := range names {
		s.mark(looks[i], x+places[i].x+6, y+places[i].y-4, 0, 0, true)
		s.text(x+places[i].x+16, y+places[i].y, "start", "", name, maxLegendName)
	}
}
