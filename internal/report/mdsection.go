package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// rowsOpen is how many rows of a class are shown before folding; evidenceShown is how many
// cases show evidence.
const (
	rowsOpen      = 15
	evidenceShown = 10
)

// mdSection is a class of cases as Markdown, split into rows so that it can be cut to fit.
type mdSection struct {
	*Section
	head     string
	rows     []string
	evidence []mdWhy // of the first cases
	frame    int     // size in bytes without any row

	shown, explained int
}

func newMDSection(s *Section) *mdSection {
	m := &mdSection{Section: s}
	switch s.Class {
	case ClassMeasured:
		m.measured()
	case ClassBroken, ClassMissing, ClassNew, ClassSkipped: // not two sides to compare
		m.listRows()
	case ClassRegressed, ClassInconclusive, ClassImproved, ClassUnchanged:
		m.judged()
	}
	m.frame = len(m.head) + len(s.Title) + 800 // 800 covers headings, folds and counts
	return m
}

// judged renders cases as a table with the confidence interval of the change.
func (m *mdSection) judged() {
	m.head = "| case | base | candidate | change | 95 % interval |\n| --- | ---: | ---: | ---: | ---: |\n"
	for i, c := range m.Cases {
		m.rows = append(m.rows, mdRow(mdName(c), words.MarkdownText(c.Base), words.MarkdownText(c.Now), words.MarkdownText(c.Change), words.MarkdownText(c.Range)))
		if i < evidenceShown && !m.Folded {
			m.evidence = append(m.evidence, mdEvidence(c))
		}
	}
}

// listRows renders cases that their sentence describes completely.
func (m *mdSection) listRows() {
	for _, c := range m.Cases {
		row := fmt.Sprintf("- %s: %s", mdName(c), words.MarkdownText(c.Sentence))
		if c.Now != "" && c.Now != "failed" {
			row += " It takes " + words.MarkdownText(c.Now) + "."
		}
		m.rows = append(m.rows, row+"\n")
	}
}

func mdName(c Case) string {
	if c.Verdict == "" {
		return words.MarkdownCode(c.Name)
	}
	return words.MarkdownCode(c.Name) + c.gateNote()
}

func (m *mdSection) measured() {
	columns := slices.DeleteFunc(slices.Clone(sideColumns), func(name string) bool {
		return !slices.ContainsFunc(m.Cases, func(c Case) bool { return slices.Contains(c.Numbers.Head, name) })
	})
	if len(columns) == 0 {
		return
	}
	m.head = mdRow(append([]string{"case"}, columns...)...) + "| --- | --- |" + strings.Repeat(" ---: |", len(columns)-1) + "\n"
	for _, c := range m.Cases {
		var rows strings.Builder
		for i, row := range c.Numbers.Rows {
			cells := make([]string, 1, len(columns)+1)
			if i == 0 {
				cells[0] = words.MarkdownCode(c.Name)
			}
			for _, column := range columns {
				text := ""
				if at := slices.Index(c.Numbers.Head, column); at >= 0 {
					text = words.MarkdownText(row[at])
				}
				cells = append(cells, text)
			}
			rows.WriteString(mdRow(cells...))
		}
		m.rows = append(m.rows, rows.String())
	}
}

func mdRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// evidenceHead holds the evidence columns: the statistics behind the verdict, and what else
// changed besides the median.
const evidenceHead = "| case | rounds | P95 | P99 | spread | chance if equal | found 19 in 20 | Cliff's delta | Mann-Whitney |\n" +
	"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"

// mdEvidence returns the evidence of a case: a table row and text.
func mdEvidence(c Case) mdWhy {
	var why mdWhy
	why.said = fmt.Sprintf("- %s: %s\n", words.MarkdownCode(c.Name), words.MarkdownText(c.Sentence))
	for _, note := range c.Notes {
		why.said += fmt.Sprintf("  - %s\n", words.MarkdownLine(note))
	}
	if f := c.facts; f != nil {
		why.row = mdRow(words.MarkdownCode(c.Name), strconv.Itoa(f.Rounds),
			words.MarkdownText(words.Quantity(f.Base.P95, f.Unit)+" to "+words.Quantity(f.Now.P95, f.Unit)),
			words.MarkdownText(words.Quantity(f.Base.P99, f.Unit)+" to "+words.Quantity(f.Now.P99, f.Unit)),
			words.Percent(f.Base.CV)+" to "+words.Percent(f.Now.CV),
			words.MarkdownText(chance(f.Holm)), words.Percent(f.Detectable), words.Signed(f.Delta, 2), words.MarkdownText(chance(f.MannWhitney)))
	}
	return why
}

// mdWhy is the evidence of a case in Markdown.
type mdWhy struct{ said, row string }

func (w mdWhy) size() int { return len(w.said) + len(w.row) }

// take spends the remaining bytes on the rows or the evidence of a rank.
func (m *mdSection) take(rank, left int) int {
	switch {
	case rank == m.rank():
		for m.shown < len(m.rows) && len(m.rows[m.shown]) <= left {
			left -= len(m.rows[m.shown])
			m.shown++
		}
	case rank == rankEvidence:
		for m.explained < len(m.evidence) && m.evidence[m.explained].size() <= left {
			left -= m.evidence[m.explained].size()
			m.explained++
		}
	}
	return left
}

func (m *mdSection) rank() int {
	switch m.Class {
	case ClassBroken, ClassRegressed, ClassMissing:
		return rankWorse
	case ClassUnchanged, ClassSkipped:
		return rankSame
	case ClassInconclusive, ClassImproved, ClassNew, ClassMeasured:
		return rankChanged
	}
	return rankChanged
}

func (m *mdSection) write(b *strings.Builder) {
	if len(m.rows) == 0 {
		return
	}
	if m.Folded {
		fmt.Fprintf(b, "<details><summary>%s (%d)</summary>\n\n", m.Title, len(m.rows))
		m.table(b, 0, m.shown)
		m.cut(b)
		b.WriteString("</details>\n\n")
		return
	}
	if m.Class != ClassMeasured {
		fmt.Fprintf(b, "#### %s (%d)\n\n", m.Title, len(m.rows))
	}
	open := min(m.shown, rowsOpen)
	if m.shown <= rowsOpen+5 { // folding a few rows gains nothing
		open = m.shown
	}
	m.table(b, 0, open)
	if open < m.shown {
		fmt.Fprintf(b, "<details><summary>and %d more</summary>\n\n", m.shown-open)
		m.table(b, open, m.shown)
		b.WriteString("</details>\n\n")
	}
	m.cut(b)
	if m.explained > 0 {
		b.WriteString("<details><summary>Evidence</summary>\n\n")
		for _, why := range m.evidence[:m.explained] {
			b.WriteString(why.said)
		}
		b.WriteString("\n" + evidenceHead)
		for _, why := range m.evidence[:m.explained] {
			b.WriteString(why.row)
		}
		b.WriteString("\n")
		if rest := len(m.rows) - m.explained; rest > 0 {
			fmt.Fprintf(b, "For the other %d, see report.html.\n\n", rest)
		}
		b.WriteString("</details>\n\n")
	}
}

func (m *mdSection) table(b *strings.Builder, from, to int) {
	if from == to {
		return
	}
	b.WriteString(m.head)
	for _, row := range m.rows[from:to] {
		b.WriteString(row)
	}
	b.WriteString("\n")
}

// cut writes how many rows are left out.
func (m *mdSection) cut(b *strings.Builder) {
	if rest := len(m.rows) - m.shown; rest > 0 {
		fmt.Fprintf(b, "%d more are not shown because the size of this page is limited. See report.html.\n\n", rest)
	}
}
