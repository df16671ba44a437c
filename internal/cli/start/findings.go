package start

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// writeFindings prints the findings of the doctor by group, and then whether pawl bench can run.
func writeFindings(w io.Writer, style report.Style, r doctor.Report) error {
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Name))
	}
	var b strings.Builder
	var group doctor.Group
	for _, f := range r.Findings {
		if f.Group != group {
			group = f.Group
			b.WriteString(style.Bold(string(group)) + "\n")
		}
		writeFinding(&b, style, f, width)
	}
	b.WriteString(conclusion(style, r) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// stateWidth is the length of the longest state.
const stateWidth = len(doctor.Missing)

func writeFinding(b *strings.Builder, style report.Style, f doctor.Finding, width int) {
	colour := map[doctor.State]func(string) string{
		doctor.OK: style.Good, doctor.Note: style.Faint, doctor.Warn: style.Warn, doctor.Missing: style.Bad,
	}[f.State]
	indent := strings.Repeat(" ", 2+stateWidth+2+width+2)
	text := strings.ReplaceAll(f.Message, "\n", "\n"+indent)
	if f.State == doctor.Note {
		text = style.Faint(text)
	}
	fmt.Fprintf(b, "  %s%s  %-*s  %s\n", colour(string(f.State)), strings.Repeat(" ", stateWidth-len(f.State)), width, f.Name, text)
	if f.Fix != "" {
		fmt.Fprintf(b, "%s%s\n", indent, style.Faint("fix: ")+f.Fix)
	}
}

func conclusion(style report.Style, r doctor.Report) string {
	good, bad, what := "usable: ", "not usable: ", "pawl bench can run here"
	if len(r.Findings) > 0 && r.Findings[0].Group == doctor.CI {
		good, bad, what = "safe: ", "not safe: ", "kernels get no write access here"
	}
	if f := r.First(); f != nil {
		line, _, _ := strings.Cut(f.Message, "\n")
		text := style.Bad(bad) + f.Name + ": " + line
		if f.Fix != "" {
			text += "\n  " + style.Faint("fix this first: ") + f.Fix
		}
		return text
	}
	text := style.Good(good) + what
	switch n := r.Count(doctor.Warn); n {
	case 0:
		return text
	case 1:
		return text + ", with 1 warning"
	default:
		return text + fmt.Sprintf(", with %d warnings", n)
	}
}

// writeNoise prints how much the same code differs from itself.
func writeNoise(w io.Writer, style report.Style, run *measure.Run, n *noiseDocument) error {
	if _, err := fmt.Fprintf(w, "\n%s of %s on %s, %d rounds\n", style.Bold("noise"), run.Suite.Name, run.Device.Name, n.Rounds); err != nil {
		return err
	}
	if err := writeLines(w, append(n.Words, "")); err != nil {
		return err
	}
	rows := [][]string{{"case", "timer", "within", "between", "paired", "lag-1", "wild", "speeds"}}
	for _, c := range n.Cases {
		row := []string{c.Case, string(c.Timer), "-"}
		if c.Rounds >= 2 {
			row = append(row[:2], words.Percent(c.Within), words.Percent(c.Between), words.Percent(c.Paired),
				fmt.Sprintf("%.2f", c.Lag), strconv.Itoa(c.Wild), "")
			if c.Speeds > 0 {
				row[len(row)-1] = strconv.Itoa(c.Speeds)
			}
		}
		rows = append(rows, row)
	}
	right := []bool{false, false, true, true, true, true, true, true}
	if err := report.Table(w, style, right, rows); err != nil {
		return err
	}
	return writeLines(w, n.lines(style))
}

// lines returns the lines below the table.
func (n *noiseDocument) lines(style report.Style) []string {
	lines := []string{
		style.Faint("within: spread of the samples of a round. between: spread of the medians of rounds. paired: spread of the"),
		style.Faint("ratio of the two sides of a round, both the same code. lag-1: correlation of a ratio with the previous one."),
		style.Faint("wild: outliers, rounds far from the others. speeds: number of clusters of medians, if there are enough rounds to tell."),
	}
	for _, c := range n.Cases {
		if c.Noisy {
			lines = append(lines, style.Warn("warning: ")+fmt.Sprintf("the samples of %s vary by %s within a round", c.Case, words.Percent(c.Within)))
		}
	}
	if len(n.Help) > 0 {
		lines = append(lines, style.Bold("what would help"))
		for _, h := range n.Help {
			lines = append(lines, "  "+h)
		}
	}
	return append(lines, style.Faint("record: "+n.Record))
}

func writeLines(w io.Writer, lines []string) error {
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
