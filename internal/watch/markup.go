package watch

import (
	"strings"
	"unicode"
)

// markup is how a digest is written for somebody. Text of strangers goes through text and
// then means nothing but itself.
type markup struct {
	text         func(string) string
	link         func(address, name string) string // name is text already
	strong, code func(string) string
	bullet       string
}

var slack = markup{
	text:   slackText,
	link:   func(address, name string) string { return "<" + address + "|" + name + ">" },
	strong: func(s string) string { return "*" + s + "*" },
	code:   func(s string) string { return "`" + s + "`" },
	bullet: "• ",
}

// plain is for a mail: no markup at all, and an address stands behind what it is of.
var plain = markup{
	text:   plainText,
	link:   func(address, name string) string { return name + " <" + address + ">" },
	strong: func(s string) string { return s },
	code:   func(s string) string { return s },
	bullet: "- ",
}

// plainText is a stranger's text in one line of limited length, in which programs that
// show mail find no address to click on.
func plainText(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > slackLength {
			b.WriteString("…")
			break
		}
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == '<', r == '>':
			b.WriteByte('\'')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	text := strings.ReplaceAll(b.String(), "://", ":\u2060//")
	return strings.ReplaceAll(text, "www.", "www\u2060.")
}
