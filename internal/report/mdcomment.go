package report

import (
	"fmt"
	"strings"
)

// Comment renders the cases and their explanations for a pull request in at most limit
// bytes, between head and foot. Head and foot are Markdown and never cut; the least
// important cases are, with a count.
func Comment(d *Document, head, foot string, limit int) string {
	m := markdown{Document: d, left: limit}
	var top strings.Builder
	top.WriteString(head)
	top.WriteString(m.whyLines())
	top.WriteString(m.stages())
	top.WriteString(m.whys())
	var end strings.Builder
	if len(m.Facts) > 0 {
		fmt.Fprintf(&end, "<details><summary>How it was measured</summary>\n\n%s\n</details>\n\n", m.facts())
	}
	end.WriteString(m.warnings())
	end.WriteString(foot)
	return m.between(top.String(), end.String())
}

// MarkdownLine is MarkdownText for the start of a line, where the text could start a list.
func MarkdownLine(s string) string { return line(s) }

// MarkdownLink returns a link with text shown literally; only the text if url is not a web
// address.
func MarkdownLink(text, url string) string {
	to := href(url)
	if to == "" || len(to) > addressLength {
		return escape(text)
	}
	return fmt.Sprintf("[%s](%s)", escape(text), to)
}
