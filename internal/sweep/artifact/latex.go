package artifact

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/report"
)

// writeLaTeX writes a table for a paper: a tabular to \input where it is needed.
func writeLaTeX(t table) []byte {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}\n\\begin{tabular}{")
	for _, c := range t.columns {
		if c.right {
			b.WriteByte('r')
		} else {
			b.WriteByte('l')
		}
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) {
		for i := range cells {
			cells[i] = latexText(cells[i])
		}
		b.WriteString(strings.Join(cells, " & ") + ` \\` + "\n")
	}
	head := make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i] = c.head
	}
	line(head)
	b.WriteString("\\midrule\n")
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.text
		}
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return []byte(b.String())
}

// latexWords are the characters that mean something to TeX, and how to print them.
// Braces around a sign keep it from being read together with its neighbours: a row
// that begins with [ would be the length of the line break before it, two hyphens a dash.
var latexWords = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '_': `\_`, '%': `\%`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
	'"': `{\char34}`, '\'': `{'}`, '`': `{\char96}`, '…': `\dots{}`,
	'-': `{-}`, '[': `{[}`, ']': `{]}`, '*': `{*}`, '!': `{!}`, '?': `{?}`, ',': `{,}`,
}

// latexText prints text as it is. What is not ASCII is named by its number: which
// letters there are depends on fonts that are not known here.
func latexText(s string) string {
	var b strings.Builder
	for _, r := range report.Plain(s) {
		switch word, special := latexWords[r]; {
		case special:
			b.WriteString(word)
		case r > '~':
			fmt.Fprintf(&b, "{[}U+%04X{]}", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
