package journal

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

var makeVariable = lazyregexp.New(`^(?:export\s+|override\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*([:?+]?:?=)\s*(.*)$`)

// partsOfMake takes a makefile apart: variables of flags, variables of numbers, and the rest.
func partsOfMake(text string) *parts {
	p := newParts()
	var rest []string
	for line := range strings.SplitSeq(plainLines(strings.ReplaceAll(text, "\\\n", " "), "#"), "\n") {
		m := makeVariable.FindStringSubmatch(line)
		switch {
		case m == nil:
			rest = append(rest, line)
		case strings.HasPrefix(m[3], "-"), strings.Contains(strings.ToUpper(m[1]), "FLAGS"):
			p.flags[m[1]] = strings.TrimSpace(p.flags[m[1]] + " " + m[3])
		default:
			p.constants[m[1]] = append(p.constants[m[1]], m[3])
		}
	}
	p.rest = strings.Join(rest, "\n")
	return p
}

// plainLines are the lines of a text that say something, with one space between words and
// without what follows after a comment's mark; none for "".
func plainLines(text, comment string) string {
	var list []string
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		for i, w := range words {
			if comment != "" && strings.HasPrefix(w, comment) {
				words = words[:i]
				break
			}
		}
		if len(words) > 0 {
			list = append(list, strings.Join(words, " "))
		}
	}
	return strings.Join(list, "\n")
}
