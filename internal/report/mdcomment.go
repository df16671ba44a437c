package report

import (
	"fmt"
	"strings"
)

// Comment is a document for a pull request: what its cases came to and why, between a
// head and a foot of the caller's, in no more than limit bytes. Head and foot are Markdown,
// and there in full; what gives way is the least important of the cases, with a count.
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

// MarkdownLine is MarkdownText for the beginning of a line, where it could begin a list.
func MarkdownLine(s string) string { return line(s) }

// MarkdownLink is a link to a web address, named by text that means nothing but itself;
// only the text where the address is none.
func MarkdownLink(text, url string) string {
	to := href(url)
	if to == "" || len(to) > addressLength {
		return escape(text)
	}
	return fmt.Sprintf("[%s](%s)", escape(text), to)
}
