package page

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// markdown is the guide as text for forges. Everything that came from a journal is escaped
// for them.
func (v guideView) markdown() string {
	var b strings.Builder
	text, code := words.MarkdownText, words.MarkdownCode
	fmt.Fprintf(&b, "# %s\n\n", text(v.Title))
	if v.Head != nil {
		fmt.Fprintf(&b, "Session %s, %s.", code(v.Head.ID), text(strings.Join(v.spentWords(), ", ")))
		if v.Head.Chain != "" {
			fmt.Fprintf(&b, " **The journal is not as it was written:** %s.", text(v.Head.Chain))
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "**%s: %s**", strings.ToUpper(v.Now.Word[:1])+v.Now.Word[1:], text(v.Now.Do))
	if v.Now.Why != "" {
		b.WriteString(" " + text(v.Now.Why))
	}
	if v.Now.Run != "" {
		b.WriteString("\n\nRun " + code(v.Now.Run))
	}
	b.WriteString("\n\n## Gates\n\n")
	for _, p := range v.Phases {
		fmt.Fprintf(&b, "### %s\n\n| gate | %s |\n| --- | --- |\n", text(p.Title), map[bool]string{true: "state", false: "why"}[v.Head != nil])
		for _, g := range p.Gates {
			said := g.Why
			if g.Word != "" {
				said = g.Word
				if g.Sentence != "" {
					said += ": " + g.Sentence
				}
				if g.Reason != "" {
					said += " (" + g.Reason + ")"
				}
			}
			fmt.Fprintf(&b, "| %s %s | %s |\n", code(g.ID), text(g.Title), text(said))
		}
		b.WriteString("\n")
	}
	b.WriteString("## Rules\n\n")
	for i, r := range v.Rules {
		fmt.Fprintf(&b, "%d. %s\n", i+1, text(r.Text))
	}
	b.WriteString("\n## Commands\n\n| command | what it does |\n| --- | --- |\n")
	for _, c := range v.Commands {
		fmt.Fprintf(&b, "| %s | %s |\n", code(c.Run), text(c.What))
	}
	v.numbers(&b)
	return b.String()
}

func (v guideView) numbers(b *strings.Builder) {
	text := words.MarkdownText
	if len(v.Thresholds) > 0 {
		b.WriteString("\n## Thresholds\n\n| threshold | value |\n| --- | --- |\n")
		for _, t := range v.Thresholds {
			value := text(t.Value)
			if t.Default != "" {
				value += " (pawl's own: " + text(t.Default) + ")"
			}
			fmt.Fprintf(b, "| %s | %s |\n", text(t.About), value)
		}
	}
	if v.Device == nil {
		return
	}
	fmt.Fprintf(b, "\n## Limits of %s\n\n| | |\n| --- | --- |\n", text(v.Device.Name))
	for _, f := range v.Device.Limits {
		fmt.Fprintf(b, "| %s | %s |\n", text(f.Label), text(f.Text))
	}
	if peaks := v.Device.peaks(); peaks != "" {
		fmt.Fprintf(b, "| peaks, dense TFLOPS | %s |\n", text(peaks))
	}
}

func (d *Device) peaks() string {
	var list []string
	for _, p := range d.Peaks {
		list = append(list, p.Label+" "+p.Text)
	}
	return strings.Join(list, ", ")
}

// spentWords is what a session took, one thing a word.
func (v board) spentWords() []string {
	var list []string
	for _, m := range v.Head.Meters {
		if m.Value > 0 || m.Most > 0 {
			list = append(list, m.Name+" "+m.Text)
		}
	}
	return list
}
