package artifact

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// writeLaTeX writes a table for a paper, as a tabular to \input.
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
	for i, cells := range t.texts(latexText) {
		if i == 1 {
			b.WriteString("\\midrule\n")
		}
		b.WriteString(strings.Join(cells, " & ") + ` \\` + "\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return []byte(b.String())
}

// latexWords maps characters that are special in TeX to how to print them. Braces around a
// sign keep it separate from its neighbors: a row that starts with [ would be read as the
// length of the preceding line break, two hyphens as a dash.
var latexWords = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '_': `\_`, '%': `\%`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
	'"': `{\char34}`, '\'': `{'}`, '`': `{\char96}`, '…': `\dots{}`,
	'-': `{-}`, '[': `{[}`, ']': `{]}`, '*': `{*}`, '!': `{!}`, '?': `{?}`, ',': `{,}`,
}

// latexText prints text literally. It writes non-ASCII characters as their code points,
// because the fonts in use are unknown.
func latexText(s string) string {
	var b strings.Builder
	for _, r := range words.Sanitize(s) {
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
