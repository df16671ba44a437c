package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// MarkdownLimit is the max output of Markdown in bytes. Forges accept comments of 65,536
// characters; the difference is for what they add, such as the marker that identifies
// a comment.
const MarkdownLimit = 64_000

// Markdown writes the document for a pull request or a page. It escapes names, which come
// from untrusted files. If the document is too long, it first drops the evidence of
// unchanged cases, then their rows, with counts. A changed case is dropped only in favor of
// a worse one.
func Markdown(w io.Writer, d *Document) error {
	m := markdown{Document: d, left: MarkdownLimit}
	_, err := io.WriteString(w, m.between(m.head(), m.foot()))
	return err
}

// markdown is a document being rendered within a length limit.
type markdown struct {
	*Document
	left int // bytes left
}

// Ranks of content that may be cut, most important first. Head and foot are always present,
// and bounded.
const (
	rankWorse    = iota // rows of broken, regressions and missing
	rankChanged         // rows of other changed cases
	rankEvidence        // evidence of the worst cases of each class
	rankSame            // rows of unchanged cases
	ranks
)

// between inserts as many cases as fit between head and foot.
func (m *markdown) between(head, foot string) string {
	blocks := make([]*mdSection, len(m.Sections))
	for i := range m.Sections {
		blocks[i] = newMDSection(&m.Sections[i])
		m.left -= blocks[i].frame
	}
	m.left -= len(head) + len(foot)
	for rank := range ranks {
		for _, b := range blocks {
			m.left = b.take(rank, m.left)
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, block := range blocks {
		block.write(&b)
	}
	b.WriteString(foot)
	return b.String()
}

// head puts the most important facts in the first two lines, because a notification shows
// no more.
func (m *markdown) head() string {
	var b strings.Builder
	headline := words.MarkdownText(m.Headline)
	if m.Outcome != "" {
		headline = m.Outcome + ": " + headline
	}
	fmt.Fprintf(&b, "### pawl: %s\n\n", headline)
	if m.Sentence != "" {
		fmt.Fprintf(&b, "%s\n\n", words.MarkdownLine(m.Sentence))
	}
	b.WriteString(m.whyLines())
	fmt.Fprintf(&b, "%s\n", words.MarkdownLine(m.Title))
	b.WriteString(m.facts())
	if m.Suite != "" && !strings.Contains(m.Sentence, m.Suite) {
		fmt.Fprintf(&b, "- %s\n", words.MarkdownLine(m.Suite))
	}
	b.WriteString("\n" + m.stages() + m.whys())
	return b.String()
}

func (m *markdown) facts() string {
	var b strings.Builder
	for _, f := range m.Facts {
		text := words.MarkdownText(words.SanitizeTo(f.Text, lineLength))
		if f.Label == "commit" || f.Label == "base" {
			text = commitCode(f.Text)
		}
		fmt.Fprintf(&b, "- %s: %s\n", f.Label, text)
	}
	return b.String()
}

func (m *markdown) stages() string {
	var b strings.Builder
	for _, s := range m.Stages {
		fmt.Fprintf(&b, "**%s: %s**, %s\n", words.MarkdownText(s.Name), s.Answer, words.MarkdownLine(s.Line))
		for _, text := range s.Detail {
			fmt.Fprintf(&b, "- %s\n", words.MarkdownLine(text))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// commitCode formats the commit as code and the rest as text.
func commitCode(s string) string {
	end := strings.IndexAny(s, " ,")
	if end < 0 {
		return words.MarkdownCode(s)
	}
	return words.MarkdownCode(s[:end]) + words.MarkdownText(s[end:])
}

// Limits of what the foot shows.
const (
	nextShown     = 6
	warningsShown = 8
	lineLength    = 240
)

// foot lists next steps, warnings and files.
func (m *markdown) foot() string {
	var b strings.Builder
	if len(m.Next) > 0 {
		b.WriteString("#### What to do next\n")
		for _, step := range m.Next[:min(len(m.Next), nextShown)] {
			text := words.MarkdownLine(words.SanitizeTo(step.Text, lineLength))
			if step.Command != "" {
				text += " " + words.MarkdownCode(words.SanitizeTo(step.Command, lineLength))
			}
			fmt.Fprintf(&b, "- %s\n", text)
		}
		b.WriteString("\n")
	}
	b.WriteString(m.warnings())
	var more []string
	if p := m.Paths.Record; p != "" {
		more = append(more, words.MarkdownCode(words.SanitizeTo(p, words.NameLength)))
	}
	if m.Made != "" {
		more = append(more, m.Made)
	}
	if len(more) > 0 {
		fmt.Fprintf(&b, "%s\n", strings.Join(more, " · "))
	}
	return b.String()
}

func (m *markdown) warnings() string {
	var b strings.Builder
	if len(m.Warnings) > 0 {
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", words.Plural(len(m.Warnings), "warning"))
		for _, text := range m.Warnings[:min(len(m.Warnings), warningsShown)] {
			fmt.Fprintf(&b, "- %s\n", words.MarkdownLine(words.SanitizeTo(text, lineLength)))
		}
		if rest := len(m.Warnings) - warningsShown; rest > 0 {
			fmt.Fprintf(&b, "- and %d more\n", rest)
		}
		b.WriteString("\n</details>\n\n")
	}
	return b.String()
}
