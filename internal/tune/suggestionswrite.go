package tune

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// markdown is a Markdown text being written. Text from a suite or a journal must go through
// text or name first, so that it does not become markup.
type markdown struct{ b bytes.Buffer }

// text escapes s but keeps it readable as source: an underscore inside a word is not
// markup.
func text(s string) string {
	s = words.MarkdownText(words.Sanitize(s))
	for range 2 { // a_b_c overlaps
		s = inWord.ReplaceAllString(s, "${1}_$2")
	}
	return s
}

func name(s string) string {
	if s = words.Sanitize(s); condensed.MatchString(s) {
		return "`" + s + "`"
	}
	return words.MarkdownCode(s)
}

var (
	inWord    = lazyregexp.New(`([A-Za-z0-9])\\_([A-Za-z0-9])`)
	condensed = lazyregexp.New(`^[A-Za-z0-9_]+( (\*|>|<|=|>=|<=|and) [A-Za-z0-9_.]+)*$`) // a name, or a condition
)

// line writes a paragraph.
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
	m.line("%s", strings.TrimSpace(fmt.Sprintf("**%s.** %s", text(f.Title), text(f.Note))))
	m.fence(f.Language, f.Text)
}

// fence writes body literally, in a fence that body cannot end.
func (m *markdown) fence(language, body string) {
	mark := "```"
	for strings.Contains(body, mark) {
		mark += "`"
	}
	fmt.Fprintf(&m.b, "%s%s\n%s\n%s\n\n", mark, language, strings.TrimRight(body, "\n"), mark)
}
