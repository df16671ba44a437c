package learn

import (
	"fmt"

	"github.com/goatnote-inc/pawl/internal/report"
)

// scale turns minutes into places, the same for all rows: bars are to be compared.
type scale struct{ most float64 }

func scaleOf(rows []*row) scale {
	most := 10.0
	for _, r := range rows {
		most = max(most, r.tale.Minutes)
		if r.tale.Planned <= 2*r.tale.Minutes { // a plan far beyond what it took would squeeze all bars
			most = max(most, r.tale.Planned)
		}
	}
	return scale{most * 1.02}
}

func (s scale) x(minutes float64) float64 {
	return pictureEdge + min(max(minutes, 0), s.most)/s.most*(pictureWidth-2*pictureEdge)
}

// marks are round minutes: quarters of hours and their multiples.
func (s scale) marks() (list []float64) {
	step := 5.0
	for _, candidate := range []float64{15, 30, 60, 120, 240, 480, 1440} {
		if s.most/step > 8 {
			step = candidate
		}
	}
	for m := 0.0; m <= s.most; m += step {
		list = append(list, m)
	}
	return list
}

func (s scale) grid(sketch *report.Sketch, top, bottom float64) {
	for _, m := range s.marks() {
		sketch.Line(report.Faint, 1, report.Place{X: s.x(m), Y: top}, report.Place{X: s.x(m), Y: bottom})
	}
}

func (s scale) axis(sketch *report.Sketch, y float64) {
	sketch.Line(report.Rule, 1, report.Place{X: pictureEdge, Y: y}, report.Place{X: pictureWidth - pictureEdge, Y: y})
	marks := s.marks()
	for i, m := range marks {
		text := fmt.Sprintf("%g", m)
		switch i {
		case 0:
			sketch.Write(report.Soft, report.Place{X: s.x(m), Y: y + 13}, report.Label{Text: text, Align: -1})
			continue
		case len(marks) - 1:
			text += " min"
		}
		sketch.Write(report.Soft, report.Place{X: min(s.x(m), pictureWidth-pictureEdge-16), Y: y + 13}, report.Label{Text: text})
	}
}

// legend names colours and signs.
func legend(s *report.Sketch, y float64) {
	x := pictureEdge
	word := func(text string) {
		l := report.Label{Text: text, Align: -1}
		s.Write(report.Soft, report.Place{X: x, Y: y}, l)
		x += l.Width()*widerFonts + 9
	}
	for _, p := range Phases() {
		s.Bar(phaseTones[p], x, y-8, 10, 9)
		x += 14
		word(p)
	}
	for _, m := range []struct {
		kind MarkKind
		text string
	}{{MarkStop, "stop, or where one was missed"}, {MarkMistake, "mistake"}, {MarkOverride, "overridden"}} {
		tone, hollow := markTone(m.kind)
		s.Dot(tone, report.Place{X: x + 4, Y: y - 3.5}, 3.6, hollow)
		x += 12
		word(m.text)
	}
	s.Dashes(report.Ink, 1.5, report.Place{X: x + 3, Y: y - 9}, report.Place{X: x + 3, Y: y + 2})
	x += 10
	word("planned")
	const note = "right: speed-up against the reference, how it ended"
	s.Write(report.Soft, report.Place{X: pictureWidth - pictureEdge, Y: y + 15}, report.Label{Text: note, Align: 1})
}
