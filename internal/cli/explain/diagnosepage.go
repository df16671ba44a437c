package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
)

// How many items a diagnosis shows before it only counts the rest.
const (
	findingsShown = 3
	causesShown   = 3
	changesShown  = 8
)

// writeDiagnosis prints what a profile means, with the conclusion first.
func writeDiagnosis(w io.Writer, style report.Style, a diagnosisAnswer, all bool) error {
	p := diagnosisPage{style: style, all: all}
	p.head(a)
	if a.Difference != nil {
		p.difference(*a.Difference)
	}
	p.writeCurrent(a.Diagnosis, a.Difference == nil || all)
	for _, n := range a.Notes {
		p.line("%s", style.Faint("note: "+words.Sanitize(n)))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type diagnosisPage struct {
	strings.Builder
	style report.Style
	all   bool
}

func (p *diagnosisPage) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *diagnosisPage) head(a diagnosisAnswer) {
	name := words.Sanitize(a.Kernel)
	if a.Case != "" {
		name = words.Sanitize(a.Case) + "  " + p.style.Faint(name)
	}
	p.line("%s  %s", p.style.Bold(name), p.style.Faint(words.Sanitize(a.Tool.Name+" "+a.Tool.Version)))
}

func (p *diagnosisPage) difference(d diagnose.Difference) {
	p.line("\n%s", words.Sanitize(d.Sentence))
	for i, c := range d.Causes {
		if i == causesShown && !p.all {
			p.line("%s", p.style.Faint(fmt.Sprintf("   %d more with --all", len(d.Causes)-i)))
			break
		}
		explains := ""
		if c.Explains != nil {
			explains = fmt.Sprintf("  explains %.0f %%", 100**c.Explains)
		}
		if c.Symptom && !d.Causes[0].Symptom {
			explains += "  follows from the above"
		}
		p.line("\n%d  %s%s", i+1, p.style.Bold(words.Sanitize(c.Title)), p.style.Faint(explains))
		p.line("   %s", words.Sanitize(c.Sentence))
		for _, s := range c.Chain {
			p.line("   %s", p.style.Faint(changeLine(s)))
		}
		p.fixes(c.Fixes)
	}
	if len(d.Changes) == 0 {
		return
	}
	p.line("\nlargest changes")
	for i, c := range d.Changes {
		if i == changesShown && !p.all {
			p.line("%s", p.style.Faint(fmt.Sprintf("   %d more with --all", len(d.Changes)-i)))
			break
		}
		p.line("   %s", changeLine(c))
	}
}

func changeLine(c diagnose.Change) string {
	value := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return report.Reading(*v, c.Unit)
	}
	return fmt.Sprintf("%s: %s, was %s", c.About, value(c.After), value(c.Before))
}

// writeCurrent prints what the profile itself shows. Beside a difference it is a single line, because findings
// that were there before do not explain the change.
func (p *diagnosisPage) writeCurrent(d diagnose.Diagnosis, findings bool) {
	if !findings {
		p.line("\n%s  %s", p.style.Bold("now: "+string(d.Bottleneck)), words.Sanitize(d.Lines[0]))
		return
	}
	p.line("\n%s", p.style.Bold("bottleneck: "+string(d.Bottleneck)))
	for _, l := range d.Lines {
		p.line("  %s", words.Sanitize(l))
	}
	for i, f := range d.Findings {
		if i == findingsShown && !p.all {
			p.line("%s", p.style.Faint(fmt.Sprintf("\n%d more with --all", len(d.Findings)-i)))
			break
		}
		p.finding(i+1, f)
	}
	if len(d.Missing) > 0 {
		p.line("\n%s", p.style.Faint("not in this profile:"))
		for _, m := range d.Missing {
			p.line("%s", p.style.Faint("  "+words.Sanitize(m)))
		}
	}
}

func (p *diagnosisPage) finding(n int, f diagnose.Finding) {
	share := ""
	if f.Share != nil && *f.Share >= 0.005 {
		share = fmt.Sprintf("  up to %.0f %% of the time (%s)", 100**f.Share, f.Basis)
	}
	if f.Intended {
		share += "  probably intended"
	}
	p.line("\n%d  %s%s", n, p.style.Bold(words.Sanitize(f.Title)), p.style.Faint(share))
	p.line("   %s", words.Sanitize(f.Sentence))
	for _, e := range f.Evidence {
		text := e.About + " " + report.Reading(e.Value, e.Unit)
		if e.Compare != "" {
			text += fmt.Sprintf(" (%s %s)", e.Compare, report.Reading(e.Limit, e.Unit))
		}
		p.line("   %s", p.style.Faint(text))
	}
	p.fixes(f.Fixes)
}

func (p *diagnosisPage) fixes(fixes []diagnose.Fix) {
	for i, fix := range fixes {
		if i > 0 && !p.all {
			break
		}
		p.line("   try: %s", words.Sanitize(fix.Do))
		for l := range strings.Lines(fix.Example) {
			p.line("        %s", p.style.Faint(codeLine(l)))
		}
		if fix.Watch != "" {
			p.line("   watch: %s", words.Sanitize(fix.Watch))
		}
	}
}

// codeLine sanitizes a line of an example but keeps its indentation. The rule may be untrusted.
func codeLine(line string) string {
	text := strings.TrimLeft(line, " \t")
	indent := strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    ")
	return indent + words.Sanitize(text)
}

func writeLaunches(w io.Writer, style report.Style, file string, p *profile.Profile) error {
	rows := [][]string{{file, "kernel", "time", "grid", "block"}}
	for _, l := range p.Launches {
		at := "-"
		if t, ok := l.Facts()["time_ns"]; ok {
			at = words.Quantity(t, "ns")
		}
		rows = append(rows, []string{strconv.Itoa(l.ID), words.Sanitize(l.Kernel), at, fmt.Sprint(l.Grid), fmt.Sprint(l.Block)})
	}
	return report.Table(w, style, []bool{true, false, true, false, false}, rows)
}
