package tune

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/report"
)

// markdown is a text as it is written. What comes from a suite or a journal goes through text
// or name first: it must not become markup.
type markdown struct{ b bytes.Buffer }

func text(s string) string { return report.MarkdownText(report.Plain(s)) }
func name(s string) string { return report.MarkdownCode(report.Plain(s)) }

// line is a paragraph.
func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n\n", args...)
}

func (m *markdown) items(list []string) {
	for _, s := range list {
		fmt.Fprintf(&m.b, "- %s\n", text(s))
	}
	m.b.WriteByte('\n')
}

func (m *markdown) row(cells ...string) {
	fmt.Fprintf(&m.b, "| %s |\n", strings.Join(cells, " | "))
}

func (m *markdown) form(f Form) {
	m.line("**%s.** %s", text(f.Title), text(f.Note))
	m.fence(f.Language, f.Text)
}

// fence is text that is taken as it is; nothing in it ends the fence.
func (m *markdown) fence(language, body string) {
	mark := "```"
	for strings.Contains(body, mark) {
		mark += "`"
	}
	fmt.Fprintf(&m.b, "%s%s\n%s\n%s\n\n", mark, language, strings.TrimRight(body, "\n"), mark)
}
