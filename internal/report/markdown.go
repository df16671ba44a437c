package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Markdown writes the table of a run for a page or a pull request. Names come
// from strangers' files and are made harmless.
func Markdown(w io.Writer, run *measure.Run) error {
	summaries := Summarise(run)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", escape(headline(run, Style{})))
	fmt.Fprintf(&b, "| case | side | P50 | P95 | P99 | CV | %s | over rounds |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", against(run))
	for _, s := range summaries {
		for i, side := range s.Sides {
			name := ""
			if i == 0 {
				name = s.Name
			}
			cells := row(name, s.Unit, side)
			cells = append(cells[:6], cells[8:]...)
			for c := range cells {
				cells[c] = escape(cells[c])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	for _, warning := range Warnings(run, summaries) {
		fmt.Fprintf(&b, "\nWarning: %s\n", escape(warning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape keeps text from becoming markup: no links, mentions, HTML or cells.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r < ' ' || r == 0x7f || (r >= 0x200b && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069):
		case strings.ContainsRune("\\`*_[]|~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("@\u200b") // no mention
		case r == '#':
			b.WriteString("#\u200b") // no issue reference
		default:
			b.WriteRune(r)
		}
	}
	return unlink.Replace(b.String())
}

// unlink breaks what a forge would turn into a link by itself.
var unlink = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.", "WWW.", "WWW\u200b.")
