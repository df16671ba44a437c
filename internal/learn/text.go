package learn

import (
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

// mostShown is how many sessions a text tells one by one: the newest.
const mostShown = 20

// Terminal writes the story for a terminal.
func (s *Story) Terminal(w io.Writer, style report.Style) error {
	var b strings.Builder
	b.WriteString(style.Bold(s.Headline()) + "\n")
	shown, first := s.shown()
	if len(shown) > 0 {
		b.WriteString("\n")
		if err := report.Table(&b, style, rights(), table(shown, first)); err != nil {
			return err
		}
		if first > 0 {
			b.WriteString(style.Faint(fmt.Sprintf("%d earlier ones are counted, not shown.", first)) + "\n")
		}
		b.WriteString(style.Faint("build, reference, bottleneck: time from the start to the first of each. speed-up: against the reference.") + "\n\n")
	}
	for i := range shown {
		s.terminalMarks(&b, style, &shown[i], first+i+1)
	}
	for _, line := range s.Lines() {
		b.WriteString(line + "\n")
	}
	for _, p := range s.Problems {
		b.WriteString(style.Warn("not read: "+words.Sanitize(p)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Story) terminalMarks(b *strings.Builder, style report.Style, t *Tale, number int) {
	list := merged(t.Marks)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s %s\n", style.Bold(fmt.Sprintf("Session %d", number)), words.Sanitize(t.Goal))
	for _, m := range list {
		word := fmt.Sprintf("%-11s  %s", m.Kind.Text(), words.Sanitize(m.Word))
		if m.Kind != MarkStop && m.Kind != MarkMissed {
			word = style.Bad(word)
		}
		line := fmt.Sprintf("  %9s  %s", minutesText(m.Minute), word)
		if m.Text != "" {
			line += style.Faint(": " + words.Sanitize(m.Text))
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\n")
}

// shown are the sessions that a text tells, and how many come before them.
func (s *Story) shown() ([]Tale, int) {
	first := max(0, len(s.Sessions)-mostShown)
	return s.Sessions[first:], first
}

func rights() []bool {
	list := []bool{true}
	for _, c := range columns {
		list = append(list, c.right)
	}
	return list
}

// table is the sessions with their number first.
func table(tales []Tale, first int) [][]string {
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.head)
	}
	rows := [][]string{head}
	for i := range tales {
		row := []string{fmt.Sprint(first + i + 1)}
		for _, c := range columns {
			row = append(row, c.of(&tales[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// Markdown writes the story as a page. picture is the path of the picture beside it; empty
// for none.
func (s *Story) Markdown(w io.Writer, picture string) error {
	var b strings.Builder
	b.WriteString("# The story of sessions\n\n" + words.MarkdownText(s.Headline()) + "\n\n")
	if picture != "" {
		fmt.Fprintf(&b, "![Minutes by phase, with stops, mistakes and speed-ups](%s)\n\n", picture)
	}
	shown, first := s.shown()
	if len(shown) > 0 {
		markdownTable(&b, table(shown, first))
		b.WriteString("\n")
	}
	for i := range shown {
		markdownMarks(&b, &shown[i], first+i+1)
	}
	for _, line := range s.Lines() {
		b.WriteString("- " + words.MarkdownText(line) + "\n")
	}
	for _, p := range s.Problems {
		b.WriteString("- not read: " + words.MarkdownText(words.Sanitize(p)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + words.MarkdownText(cell) + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for _, right := range rights() {
			b.WriteString(map[bool]string{true: "| ---: ", false: "| --- "}[right])
		}
		b.WriteString("|\n")
	}
}

func markdownMarks(b *strings.Builder, t *Tale, number int) {
	list := merged(t.Marks)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "**Session %d** %s\n\n", number, words.MarkdownText(words.Sanitize(t.Goal)))
	for _, m := range list {
		fmt.Fprintf(b, "- %s, %s: %s", minutesText(m.Minute), m.Kind.Text(), words.MarkdownText(words.Sanitize(m.Word)))
		if m.Text != "" {
			b.WriteString(" (" + words.MarkdownText(words.Sanitize(m.Text)) + ")")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
