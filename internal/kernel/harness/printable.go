package harness

import (
	"strings"
	"unicode"
)

// printable makes untrusted text safe for a terminal and a log: escape sequences,
// bidirectional marks and the like become visible placeholders.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case !unicode.IsPrint(r):
			return '\uFFFD'
		default:
			return r
		}
	}, s)
}
