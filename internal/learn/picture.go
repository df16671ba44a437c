package learn

import (
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/report"
)

// phaseTones are the colours of phases; their names stand in the legend.
var phaseTones = map[string]report.Tone{
	phaseAssess: report.Base, phaseBuild: report.Other, phaseBaseline: report.Now, phaseOptimise: report.Good, phaseLost: report.Rule,
}

// Sizes of the picture.
const (
	pictureWidth = 680.0
	pictureEdge  = 12.0
	rowHead      = 16.0 // its title
	barHeight    = 14.0
	laneHeight   = 12.0
	rowGap       = 12.0
	mostRows     = 14 // sessions that are drawn; earlier ones are only told
	mostLanes    = 5
	widerFonts   = 1.16 // than pawl's own are some of browsers
)

// Picture draws sessions below each other: minutes as bars split by phase, stops and
// mistakes at their minute with their word, and how fast the kernel was.
func (s *Story) Picture() *report.Sketch {
	rows := s.rows()
	height := 44.0
	for _, r := range rows {
		height += r.height()
	}
	sketch := report.NewSketch(pictureWidth, height+26)
	legend(sketch, 14)
	scale := scaleOf(rows)
	y := 44.0
	scale.grid(sketch, 36, height)
	for _, r := range rows {
		r.draw(sketch, scale, y)
		y += r.height()
	}
	scale.axis(sketch, height)
	return sketch
}

// rows are the sessions that are drawn, the oldest first, with their words laid out.
func (s *Story) rows() []*row {
	shown := s.Sessions[max(0, len(s.Sessions)-mostRows):]
	first := len(s.Sessions) - len(shown)
	var rows []*row
	for i := range shown {
		rows = append(rows, &row{tale: &shown[i], number: first + i + 1})
	}
	scale := scaleOf(rows)
	for _, r := range rows {
		r.place(scale)
	}
	return rows
}

// row is a session in the picture.
type row struct {
	tale   *Tale
	number int
	words  []placed
	lanes  int
}

// placed is a word below a bar.
type placed struct {
	mark  Mark
	at    float64 // where its minute is
	x     float64 // where the word begins, or ends if its label says so
	lane  int
	label report.Label
}

func (r *row) height() float64 { return rowHead + barHeight + float64(r.lanes)*laneHeight + rowGap }

// place lays the words out in lanes so that none covers another.
func (r *row) place(scale scale) {
	var ends [mostLanes]float64
	for i := range ends {
		ends[i] = -1
	}
	for _, m := range merged(r.tale.Marks) {
		at := scale.x(min(m.Minute, r.tale.Minutes))
		text := m.Word
		if m.Kind == MarkMissed {
			text = "stop: " + text
		}
		label := report.Label{Text: words.Sanitize(text), Align: -1, Most: 230}
		width := min(label.Width(), label.Most) * widerFonts
		x, begins := at+5, at
		if x+width > pictureWidth-pictureEdge { // it ends at the edge then
			label.Align, x = 1, pictureWidth-pictureEdge
			begins = x - width
		}
		for lane := range ends {
			if begins < ends[lane] {
				continue
			}
			ends[lane] = begins + 5 + width + 8
			r.words = append(r.words, placed{m, at, x, lane, label})
			r.lanes = max(r.lanes, lane+1)
			break
		}
	}
}

// merged puts marks of one word that follow each other into one.
func merged(list []Mark) []Mark {
	var out []Mark
	times := 1
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].Kind == m.Kind && plainWord(out[n-1].Word, times) == m.Word {
			times++
			out[n-1].Word = fmt.Sprintf("%s, %d times", m.Word, times)
			continue
		}
		out, times = append(out, m), 1
	}
	return out
}

func plainWord(word string, times int) string {
	return strings.TrimSuffix(word, fmt.Sprintf(", %d times", times))
}

func (r *row) draw(s *report.Sketch, scale scale, y float64) {
	right := r.result()
	title := report.Label{Text: fmt.Sprintf("%d", r.number), Align: -1, Bold: true}
	s.Write(report.Ink, report.Place{X: pictureEdge, Y: y + 11}, title)
	room := pictureWidth - 2*pictureEdge - 26 - right.Width()
	s.Write(report.Soft, report.Place{X: pictureEdge + 16, Y: y + 11}, report.Label{Text: r.facts(), Align: -1, Most: room})
	s.Write(r.tone(), report.Place{X: pictureWidth - pictureEdge, Y: y + 11}, right)

	top := y + rowHead
	from := 0.0
	for _, span := range r.tale.Spans {
		x, width := scale.x(from), scale.x(from+span.Minutes)-scale.x(from)
		s.Bar(phaseTones[span.Phase], x, top, max(width-0.6, 0.6), barHeight)
		from += span.Minutes
	}
	if p := r.tale.Planned; p > 0 && p <= scale.most {
		x := scale.x(p)
		s.Dashes(report.Ink, 1.5, report.Place{X: x, Y: top - 2}, report.Place{X: x, Y: top + barHeight + 2})
	}
	for _, w := range r.words {
		baseline := top + barHeight + float64(w.lane+1)*laneHeight - 2
		tone, hollow := markTone(w.mark.Kind)
		leader := []report.Place{{X: w.at, Y: top + barHeight/2}, {X: w.at, Y: baseline - 8}}
		if w.label.Align < 0 {
			leader = []report.Place{leader[0], {X: w.at, Y: baseline - 3}, {X: w.at + 4, Y: baseline - 3}}
		}
		s.Line(tone, 1, leader...)
		s.Dot(tone, report.Place{X: w.at, Y: top + barHeight/2}, 3.6, hollow)
		s.Write(tone, report.Place{X: w.x, Y: baseline}, w.label)
	}
}

// markTone is how a mark looks: mistakes are filled, stops are rings.
func markTone(kind MarkKind) (report.Tone, bool) {
	switch kind {
	case MarkStop, MarkMissed:
		return report.Ink, true
	case MarkOverride:
		return report.Bad, true
	case MarkMistake, MarkLost:
		return report.Bad, false
	}
	return report.Soft, false
}

// facts is what stands above a bar.
func (r *row) facts() string {
	t := r.tale
	parts := []string{minutesText(t.Minutes)}
	if t.Planned > 0 {
		parts[0] += " of " + minutesText(t.Planned) + " planned"
	}
	if t.Dollars > 0 {
		parts = append(parts, dollarsText(t.Dollars))
	}
	if t.By.Kind == journal.Agent {
		parts = append(parts, "agent "+t.By.Name)
	}
	if t.Goal != "" {
		parts = append(parts, t.Goal)
	}
	return words.Sanitize(strings.Join(parts, " · "))
}

// result is what came of it, at the right.
func (r *row) result() report.Label {
	return report.Label{Text: strings.TrimSpace(r.tale.SpeedText() + "  " + r.tale.OutcomeText()), Align: 1, Bold: true}
}

func (r *row) tone() report.Tone {
	switch r.tale.Outcome {
	case journal.Reached, journal.Better:
		return report.Good
	case journal.Lost, journal.Stopped, journal.Nothing:
		return report.Bad
	}
	return report.Ink
}

// OutcomeText is how the session ended, in a word.
func (t *Tale) OutcomeText() string {
	switch {
	case t.Open:
		return "goes on"
	case t.Outcome == journal.Nothing:
		return "nothing faster"
	default:
		return words.Sanitize(string(t.Outcome))
	}
}

// SpeedText is how fast the kernel was against the reference; empty where nobody knows.
func (t *Tale) SpeedText() string {
	if t.Speedup <= 0 {
		return ""
	}
	start, end := fmt.Sprintf("%.2fx", t.Start), fmt.Sprintf("%.2fx", t.Speedup)
	if t.Start > 0 && start != end {
		return start + " → " + end
	}
	return end
}

// dollarsText writes what a session cost.
func dollarsText(v float64) string {
	if v < 0.1 {
		return words.Dollars(v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// minutesText writes minutes as people say them.
func minutesText(v float64) string {
	switch {
	case v >= 119.5:
		h := math.Floor((v + 0.5) / 60)
		return fmt.Sprintf("%.0f h %02.0f", h, math.Floor(v+0.5-60*h))
	case v >= 9.5:
		return fmt.Sprintf("%.0f min", v)
	default:
		return fmt.Sprintf("%.1f min", v)
	}
}
