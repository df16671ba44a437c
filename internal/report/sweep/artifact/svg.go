package artifact

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// svg is a standalone drawing to open, print or use in a paper, with its own background and
// fonts.
type svg struct {
	b strings.Builder
}

const svgStyle = `text{font:12px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#222}` +
	`.title{font-size:15px;font-weight:600}.note{font-size:11px;fill:#666}.num{font-variant-numeric:tabular-nums}` +
	`.grid{stroke:#e4e4e4}.frame{stroke:#999}.one{stroke:#444;stroke-dasharray:4 3}.band{fill:#f6f6f6}`

func newSVG(width, height float64, title, description string) *svg {
	s := &svg{}
	s.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="t d">`+"\n",
		px(width), px(height), px(width), px(height))
	s.addf(`<title id="t">%s</title><desc id="d">%s</desc><style>%s</style>`+"\n", xmlText(title), xmlText(description), svgStyle)
	s.addf(`<rect width="%s" height="%s" fill="#fff"/>`+"\n", px(width), px(height))
	return s
}

func (s *svg) addf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

func (s *svg) bytes() []byte { return []byte(s.b.String() + "</svg>\n") }

func (s *svg) rect(x, y, width, height float64, class string) {
	s.addf(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`+"\n", px(x), px(y), px(width), px(height), class)
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.addf(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), class)
}

// text writes words. Text that does not fit is cut in the middle and shown in full on
// hover.
func (s *svg) text(x, y float64, anchor, class, label string, most int) {
	label = words.Sanitize(label)
	short := shortened(label, most)
	hover := ""
	if short != label {
		hover = "<title>" + xmlText(label) + "</title>"
	}
	s.addf(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s%s</text>`+"\n", px(x), px(y), anchor, class, hover, xmlText(short))
}

// shortened keeps both ends of a name, because configs often start alike.
func shortened(s string, most int) string {
	letters := []rune(s)
	if len(letters) <= most {
		return s
	}
	head := most / 2
	return string(letters[:head]) + "…" + string(letters[len(letters)-(most-head-1):])
}

// xmlText escapes text for XML. Plain has removed control characters; this removes the two
// noncharacters that XML cannot contain.
func xmlText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, words.Sanitize(s)))
}

// px formats a coordinate to a tenth of a pixel, so that all machines write the same
// digits.
func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
