package alert

import (
	"strings"
	"unicode"
)

const maxName = 120 // max runes of a name

// slackText escapes untrusted text: no mention, no link, no markup, one line of limited length.
func slackText(s string) string {
	text := oneLine(s, func(r rune) string {
		switch r {
		case '&':
			return "&amp;"
		case '<':
			return "&lt;"
		case '>':
			return "&gt;"
		case '|': // would end the address of a link
			return "¦"
		case '@', '#', '*', '~', '`':
			return string(r) + "\u2060" // prevents mentions, channels and paired marks
		}
		return ""
	})
	return strings.ReplaceAll(text, "://", ":\u2060//") // prevents links
}

// oneLine makes untrusted text one line of limited length. escape returns what to write for a rune, or an
// empty string for the rune itself.
func oneLine(s string, escape func(rune) string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxName {
			b.WriteString("…")
			break
		}
		if text := escape(r); text != "" {
			b.WriteString(text)
		} else if unicode.IsSpace(r) {
			b.WriteByte(' ')
		} else if unicode.IsPrint(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
