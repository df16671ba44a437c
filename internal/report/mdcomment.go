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
