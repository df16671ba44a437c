package alert

import (
	"strings"
)

// markup formats a digest for one kind of destination. Untrusted text must pass through text, which
// escapes it.
type markup struct {
	text         func(string) string
	link         func(address, name string) string // name is already escaped
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

// plain is for mail: no markup, and each address follows what it belongs to.
var plain = markup{
	text:   plainText,
	link:   func(address, name string) string { return name + " <" + address + ">" },
	strong: func(s string) string { return s },
	code:   func(s string) string { return s },
	bullet: "- ",
}

// plainText makes untrusted text one line of limited length, in which mail programs find no address to
// turn into a link.
func plainText(s string) string {
	text := oneLine(s, func(r rune) string {
		if r == '<' || r == '>' {
			return "'"
		}
		return ""
	})
	return strings.NewReplacer("://", ":\u2060//", "www.", "www\u2060.").Replace(text)
}
