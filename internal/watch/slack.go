package watch

import (
	"strings"
	"unicode"
)

const slackLength = 120 // runes of a name

// slackText is a stranger's text that means nothing but itself: no mention, no link, no
// markup, one line of limited length.
func slackText(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > slackLength {
			b.WriteString("…")
			break
		}
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '|': // ends the address of a link
			b.WriteRune('¦')
		case r == '@', r == '#', strings.ContainsRune("*~`", r):
			b.WriteRune(r)
			b.WriteRune('\u2060') // no mention, no channel, no pair of marks
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":\u2060//") // no link
}
