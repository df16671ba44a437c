package alert

import (
	"strings"
	"unicode"
)

const slackLength = 120 // max runes of a name

// slackText escapes untrusted text: no mention, no link, no markup, one line of limited length.
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
		case r == '|': // would end the address of a link
			b.WriteRune('¦')
		case r == '@', r == '#', strings.ContainsRune("*~`", r):
			b.WriteRune(r)
			b.WriteRune('\u2060') // prevents mentions, channels and paired marks
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":\u2060//") // prevents links
}
