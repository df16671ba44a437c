package report

import (
	"fmt"
	"image/png"
	"io"
	"math"
)

// StallsPNG writes the bars as an image, 1200 pixels wide.
func StallsPNG(w io.Writer, s *Stalls) error {
	const width, side = 600.0, 24.0
	inner := s.draw(width - 2*side)
	d := &drawing{width: width, height: inner.height + 56}
	d.write(toneInk, point{side, 32}, word{text: "What warps wait for, in cycles per instruction", bold: true})
	d.include(inner, side, 44)
	c := newCanvas(int(math.Ceil(2*d.height)), paper)
	d.paint(c, 0, 0, 2)
	if err := png.Encode(w, c.RGBA); err != nil {
		return fmt.Errorf("cannot write picture: %w", err)
	}
	return nil
}

// draw draws one row per reason, its name above its bars so that the bars get the full
// width.
func (s *Stalls) draw(width float64) *drawing {
	const name, thick, gap = 14.0, 8.0, 9.0
	d := &drawing{width: width}
	most := 0.0
	for _, b := range s.Bars {
		most = max(most, b.Cycles[0], b.Cycles[1])
	}
	room := width - 36 // leaves space for the number behind the longest bar
	y := 0.0
	tones := [2]tone{toneBase, toneNow}
	for _, b := range s.Bars {
		d.write(toneInk, point{0, y + 10}, word{text: elideMiddleAt(regular, emSmall, b.Reason, width), small: true})
		y += name
		for i, v := range b.Cycles {
			if s.Total[i] == 0 {
				continue
			}
			long := max(v/most*room, 1)
			d.bar(tones[i], 0, y, long, thick)
			number := toneSoft
			if i == 1 {
				number = toneInk
			}
			d.write(number, point{long + 5, y + thick - 0.8}, word{text: cycles(v), small: true})
			y += thick + 1.5
		}
		y += gap
	}
	d.height = y + s.legend(d, y+4)
	return d
}

// legend names the two colors, with the sum of all cycles.
func (s *Stalls) legend(d *drawing, y float64) float64 {
	x := 0.0
	for i, t := range []tone{toneBase, toneNow} {
		if s.Total[i] == 0 {
			continue
		}
		text := cycles(s.Total[i]) + " in total"
		if s.both() {
			text = s.Sides[i] + ", " + text
		}
		w := word{text: text, small: true}
		d.bar(t, x, y, 9, 8)
		d.write(toneInk, point{x + 14, y + 7.6}, w)
		x += 14 + w.width() + 18
	}
	return 16
}
