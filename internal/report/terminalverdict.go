package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/ratchet"
)

// unchangedShown is how many unchanged cases a terminal lists.
const unchangedShown = 30

// Verdicts writes a document for a terminal: the verdict first, then the cases, the details
// of those that changed, and next steps. Explain adds the evidence of each verdict. A run
// without a verdict is written as the table of Terminal.
func Verdicts(w io.Writer, d *Document, style Style, explain bool) error {
	if d.result == nil {
		if d.run == nil {
			_, err := fmt.Fprintln(w, d.Headline)
			return err
		}
		return Terminal(w, d.run, style)
	}
	t := terminal{style: style, width: cmp.Or(style.Width, 100), explain: explain}
	t.head(d)
	t.stages(d)
	t.cases(d)
	t.sentences(d)
	t.foot(d)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// terminal is the terminal output being written.
type terminal struct {
	style   Style
	width   int
	explain bool
	b       strings.Builder
}

func (t *terminal) head(d *Document) {
	fmt.Fprintf(&t.b, "%s %s\n", t.paint(d.Verdict, strings.ToUpper(d.Outcome)+":"), t.style.Bold(d.Headline))
	t.wrap("", d.Sentence)
	for _, f := range d.WhyLines() {
		t.wrap("", f.Label+": "+f.Text)
	}
	if d.Suite != "" && !strings.Contains(d.Sentence, d.Suite) {
		t.wrap("", d.Suite)
	}
	t.b.WriteString("\n" + t.style.Faint(d.Title) + "\n")
	label := 0
	for _, f := range d.Facts {
		label = max(label, utf8.RuneCountInString(f.Label))
	}
	for _, f := range d.Facts {
		text := wrapped(f.Text, t.width, strings.Repeat(" ", label+4))
		t.b.WriteString(t.style.Faint(fmt.Sprintf("  %-*s%s", label, f.Label, text[min(len(text), label+2):])) + "\n")
	}
	t.b.WriteString("\n")
}

// stages writes the steps before measuring that need attention.
func (t *terminal) stages(d *Document) {
	for _, s := range d.Stages {
		word := t.style.Warn(s.Name + ": " + s.Answer)
		if s.Answer == "stop" {
			word = t.paint(ratchet.Broken, s.Name+": "+s.Answer)
		}
		t.b.WriteString(word + ", " + s.Line + "\n")
		for _, text := range s.Detail {
			t.wrap("  ", text)
		}
		t.b.WriteString("\n")
	}
}

func (t *terminal) cases(d *Document) {
	g := &grid{right: []bool{false, false, true, true, true, true}}
	g.add("verdict", "case", "base", "candidate", "change", "95 % interval")
	left := 0
	for _, s := range d.Sections {
		for i, c := range s.Cases {
			if s.Folded && i >= unchangedShown {
				left += len(s.Cases) - i
				break
			}
			g.add(string(c.Verdict)+c.gateNote(), c.Name, c.Base, c.Now, c.Change, c.Range)
		}
	}
	if len(g.rows) == 1 {
		return
	}
	g.fit(t.style.Width, "95 % interval", "base")
	g.shorten(1, t.style.Width)
	g.paint = func(row []string, line string) string {
		verdict, _, _ := strings.Cut(row[0], " ")
		return t.paint(ratchet.Verdict(verdict), line)
	}
	t.b.WriteString(g.text(t.style))
	if left > 0 {
		fmt.Fprintln(&t.b, t.style.Faint(fmt.Sprintf("and %d more that did not change", left)))
	}
}

// sentences writes the sentences of cases that may need action. The sentence of a single
// case is already above.
func (t *terminal) sentences(d *Document) {
	if d.Cases() < 2 && !t.explain {
		return
	}
	for _, s := range d.Sections {
		if (s.Folded || s.Class == ClassNew) && !t.explain {
			continue
		}
		for i, c := range s.Cases {
			if i == evidenceShown && !t.explain {
				fmt.Fprintln(&t.b, t.style.Faint(fmt.Sprintf("  and %d more: %s", len(s.Cases)-i, s.Title)))
				break
			}
			t.b.WriteString("\n" + t.style.Bold(c.Name) + "\n")
			t.wrap("  ", c.Sentence)
			for _, note := range c.Notes {
				t.wrap("  ", note)
			}
			if c.Why != nil {
				t.why(*c.Why)
			}
			if t.explain {
				t.evidence(c)
			}
		}
	}
}

// why writes the cause, unless it is already above, and what to try.
func (t *terminal) why(r Reason) {
	if r.ID > whysInHead {
		t.wrap("  ", r.Sentence)
	}
	if len(r.Fixes) > 0 {
		t.wrap("  ", "try first: "+r.Fixes[0].Do)
	}
}

// evidence writes the evidence of a verdict, if requested.
func (t *terminal) evidence(c Case) {
	if len(c.Numbers.Rows) > 0 {
		right := make([]bool, len(c.Numbers.Head))
		for i := range right {
			right[i] = i > 0
		}
		g := grid{right: right, rows: append([][]string{c.Numbers.Head}, c.Numbers.Rows...)}
		for line := range strings.Lines(g.text(t.style)) {
			t.b.WriteString("  " + line)
		}
	}
	for _, f := range c.Evidence {
		t.wrap("  ", f.Label+": "+f.Text)
	}
}

func (t *terminal) foot(d *Document) {
	if len(d.Next) > 0 {
		t.b.WriteString("\n" + t.style.Bold("next") + "\n")
		for _, step := range d.Next {
			t.wrap("  ", step.Text)
			if step.Command != "" { // on one line, for copying
				t.b.WriteString("    " + step.Command + "\n")
			}
		}
	}
	for _, warning := range d.Warnings {
		t.b.WriteString(t.style.Warn("warning: ") + warning + "\n")
	}
}

func (t *terminal) wrap(indent, text string) {
	if text != "" {
		t.b.WriteString(wrapped(text, t.width, indent) + "\n")
	}
}

// paint colors a verdict. Unchanged has no color.
func (t *terminal) paint(v ratchet.Verdict, text string) string {
	switch toneOf(v) {
	case chart.Bad:
		return t.style.Bad(text)
	case chart.Good:
		return t.style.Good(text)
	case chart.Open:
		return t.style.Warn(text)
	default:
		return text
	}
}

// wrapped breaks text at spaces so that no line is longer than width.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
