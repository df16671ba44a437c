package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/report"
)

// span is a piece of a line with what its colour means; row a line of such.
type (
	span struct {
		text string
		tone tone
	}
	row  []span
	tone byte
)

const (
	plainly tone = iota
	bold
	faint
	good
	bad
	warn
)

// The widths of the guide on a screen: narrower than least it is not made, and from two on
// it stands in two columns.
const (
	usual  = 80
	least  = 60
	two    = 112
	widest = 150
	apart  = 3
)

func (r row) width() int {
	n := 0
	for _, s := range r {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

func (r row) paint(style report.Style) string {
	var b strings.Builder
	for _, s := range r {
		switch s.tone {
		case bold:
			b.WriteString(style.Bold(s.text))
		case faint:
			b.WriteString(style.Faint(s.text))
		case good:
			b.WriteString(style.Good(s.text))
		case bad:
			b.WriteString(style.Bad(s.text))
		case warn:
			b.WriteString(style.Warn(s.text))
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}

func (v guideView) terminal(style report.Style) string {
	width := style.Width
	if width <= 0 {
		width = usual
	}
	width = min(max(width, least), widest)
	rows := v.top(width)
	if width < two {
		rows = append(rows, v.gateRows(width)...)
		rows = append(rows, v.ruleRows(width)...)
		rows = append(rows, v.commandRows(width)...)
		rows = append(rows, v.thresholdRows(width)...)
		rows = append(rows, v.limitRows(width)...)
	} else {
		half := (width - apart) / 2
		other := width - apart - half
		left := append(v.gateRows(half), v.limitRows(half)...)
		right := append(append(v.ruleRows(other), v.commandRows(other)...), v.thresholdRows(other)...)
		rows = append(rows, beside(left, right, half)...)
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(r.paint(style), " ") + "\n")
	}
	return b.String()
}

// beside sets two columns next to each other.
func beside(left, right []row, width int) []row {
	var rows []row
	for i := range max(len(left), len(right)) {
		var r row
		if i < len(left) {
			r = append(r, left[i]...)
		}
		if i < len(right) && len(right[i]) > 0 {
			r = append(r, span{text: strings.Repeat(" ", max(1, width+apart-r.width()))})
			r = append(r, right[i]...)
		}
		rows = append(rows, r)
	}
	return rows
}

// wrapped breaks text into lines, the later ones indented.
func wrapped(text string, width, indent int, t tone) []row {
	var rows []row
	line := ""
	flush := func() {
		if line != "" {
			rows = append(rows, row{{line, t}})
		}
		line = ""
	}
	room := width
	for w := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > room {
			flush()
		}
		if letters := []rune(w); len(letters) > width-indent {
			w = string(letters[:max(1, width-indent-1)]) + "…"
		}
		switch {
		case line != "":
			line += " " + w
		case len(rows) > 0:
			line = strings.Repeat(" ", indent) + w
		default:
			line = w
		}
	}
	flush()
	return rows
}

// behind sets text behind a label that takes so much room.
func behind(label row, taken int, text string, width int, t tone) []row {
	lines := wrapped(text, width-taken, 0, t)
	pad := span{text: strings.Repeat(" ", max(1, taken-label.width()))}
	if len(lines) == 0 {
		return []row{label}
	}
	rows := []row{append(append(label, pad), lines[0]...)}
	for _, l := range lines[1:] {
		rows = append(rows, append(row{{text: strings.Repeat(" ", taken)}}, l...))
	}
	return rows
}

func (v guideView) top(width int) []row {
	rows := wrapped(v.Title, width, 0, bold)
	if v.Head != nil {
		rows = append(rows, wrapped("session "+v.Head.ID+", "+strings.Join(v.spentWords(), ", "), width, 2, faint)...)
		if v.Head.Chain != "" {
			rows = append(rows, wrapped("the journal is not as it was written: "+v.Head.Chain, width, 2, bad)...)
		}
	}
	rows = append(rows, nil)
	t := good
	if v.Now.Stop {
		t = bad
	}
	const taken = 6
	rows = append(rows, behind(row{{strings.ToUpper(v.Now.Word), t}}, taken, v.Now.Do, width, bold)...)
	indent := row{{text: strings.Repeat(" ", taken-1)}}
	if v.Now.Why != "" {
		rows = append(rows, behind(indent, taken, v.Now.Why, width, plainly)...)
	}
	if v.Now.Run != "" {
		rows = append(rows, row{{text: strings.Repeat(" ", taken)}, {"$ " + v.Now.Run, t}})
	}
	return append(rows, nil)
}

func (v guideView) gateRows(width int) []row {
	var rows []row
	for i, p := range v.Phases {
		head := row{{fmt.Sprintf("%d %s", i+1, strings.ToUpper(p.Title)), bold}}
		if v.Head != nil {
			head = append(head, span{fmt.Sprintf("  %d of %d", p.Passed, p.All), faint})
		}
		rows = append(rows, head)
		for _, g := range p.Gates {
			rows = append(rows, g.rows(width)...)
		}
	}
	return append(rows, nil)
}

// rows are a gate: its state and title, and what there is to say of one that is not passed.
func (g gateView) rows(width int) []row {
	mark := map[string]span{
		"passed": {"ok", good}, "stop": {"STOP", bad}, "open": {"open", warn}, "overridden": {"over", warn}, "not asked now": {"-", faint},
	}[g.Word]
	if mark.text == "" {
		mark = span{"[ ]", faint}
	}
	const taken = 7
	rows := behind(row{{text: " "}, mark}, taken, g.Title, width, plainly)
	indent := func() row { return row{{text: strings.Repeat(" ", taken-1)}} }
	switch {
	case g.Failed && !g.Now: // that one stands at the top
		rows = append(rows, behind(indent(), taken, g.Sentence, width, bad)...)
	case g.Overridden:
		rows = append(rows, behind(indent(), taken, g.Reason, width, warn)...)
	}
	return rows
}

func (v guideView) ruleRows(width int) []row {
	rows := []row{{{"RULES", bold}}}
	for i, r := range v.Rules {
		rows = append(rows, behind(row{{fmt.Sprintf("%2d", i+1), faint}}, 3, r.Text, width, plainly)...)
	}
	return append(rows, nil)
}

func (v guideView) commandRows(width int) []row {
	rows := []row{{{"COMMANDS", bold}}}
	taken := 0
	for _, c := range v.Commands {
		taken = max(taken, len(c.Run)+3)
	}
	for _, c := range v.Commands {
		rows = append(rows, behind(row{{" " + c.Run, plainly}}, taken, c.What, width, faint)...)
	}
	return append(rows, nil)
}

func (v guideView) thresholdRows(width int) []row {
	if len(v.Thresholds) == 0 {
		return nil
	}
	rows := []row{{{"THRESHOLDS", bold}}}
	taken := 0
	for _, t := range v.Thresholds {
		taken = max(taken, utf8.RuneCountInString(t.Value)+3)
	}
	for _, t := range v.Thresholds {
		about := t.About
		if t.Default != "" {
			about += " (pawl's own: " + t.Default + ")"
		}
		rows = append(rows, behind(row{{" " + t.Value, plainly}}, taken, about, width, faint)...)
	}
	return append(rows, nil)
}

func (v guideView) limitRows(width int) []row {
	if v.Device == nil {
		return wrapped("No GPU is known here: pawl session guide --gpu L4 shows the limits of a card.", width, 0, faint)
	}
	rows := []row{{{"LIMITS OF " + v.Device.Name, bold}}}
	const taken = 16
	for _, f := range v.Device.Limits {
		rows = append(rows, behind(row{{" " + f.Label, faint}}, taken, f.Text, width, plainly)...)
	}
	if peaks := v.Device.peaks(); peaks != "" {
		rows = append(rows, behind(row{{" peak TFLOPS", faint}}, taken, peaks, width, plainly)...)
	}
	return rows
}
