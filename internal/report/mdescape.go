package report

import (
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// escape keeps text from becoming markup: no links, mentions, HTML, formulas or table
// cells. A forge searches for mentions and references after parsing the markup, so only an
// invisible space inside them prevents a match.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case isInvisible(r):
		case strings.ContainsRune("\\`*_[]|~$", r):
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
	s = hexWord.ReplaceAllStringFunc(unlink.Replace(b.String()), splitCommit)
	return issueWord.ReplaceAllString(s, "$1\u200b-")
}

// issueWord matches another way to write #1.
var issueWord = lazyregexp.New(`\b([Gg][Hh])-\b`)

// hexWord matches words that a forge links as commits.
var hexWord = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)

// splitCommit keeps a word from being linked as a commit. Digits alone are treated as a
// number, unless they are as long as a full commit hash.
func splitCommit(word string) string {
	if len(word) < 40 && strings.Trim(word, "0123456789") == "" {
		return word
	}
	return word[:3] + "\u200b" + word[3:]
}

// line escapes text at the start of a line or list item, where it could start a list.
func line(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if rest == "" || !strings.ContainsRune("-+=.)", rune(rest[0])) {
		return escape(s)
	}
	return s[:len(s)-len(rest)] + "\\" + escape(rest)
}

// unlink breaks addresses that a forge would link automatically.
var unlink = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.", "WWW.", "WWW\u200b.")

// code formats a name so that it can be copied: a forge does not search code for mentions,
// references, emoji or links. A name with characters that could end the code is written as
// HTML, with each of those as a numeric reference.
func code(name string) string {
	if name == "" {
		return ""
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(nameLetters+" %()", r) }) && strings.TrimSpace(name) == name {
		return "`" + name + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range name {
		switch {
		case isInvisible(r):
		case r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~", r):
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "</code>"
}

// href sanitizes a caller's address for a Markdown link; empty if it is not a web address.
func href(url string) string {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return ""
	}
	var b strings.Builder
	for i := range len(url) {
		c := url[i]
		switch {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("<>()[]\\`\"'|", c) >= 0:
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)+0x100, 16)[1:]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
