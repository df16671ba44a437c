package report

import (
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// escape keeps text from becoming markup: no links, mentions, HTML, formulas or
// cells. A forge looks for mentions and references after it has read the markup, so
// that only an invisible space in between keeps them from being found.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case hidden(r):
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

// issueWord is another way to write #1.
var issueWord = lazyregexp.New(`\b([Gg][Hh])-\b`)

// hexWord is what a forge takes for a commit where it has one of that name.
var hexWord = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)

// splitCommit keeps a word from being a commit. Words of digits alone are numbers, as far
// as anybody can tell, up to the length that only a commit has.
func splitCommit(word string) string {
	if len(word) < 40 && strings.Trim(word, "0123456789") == "" {
		return word
	}
	return word[:3] + "\u200b" + word[3:]
}

// line is text at the beginning of a line, or of an item, where it could begin a
// list of its own.
func line(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if rest == "" || !strings.ContainsRune("-+=.)", rune(rest[0])) {
		return escape(s)
	}
	return s[:len(s)-len(rest)] + "\\" + escape(rest)
}

// unlink breaks what a forge would turn into a link by itself.
var unlink = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.", "WWW.", "WWW\u200b.")

// code writes a name so that it can be copied: mentions, references, emoji and links
// are not looked for in code. A name with letters that could end the code is written
// as HTML, with all of them as numbers.
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
		case hidden(r):
		case r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~", r):
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "</code>"
}

// href makes an address of the caller's fit for a Markdown link; empty for what is
// no web address.
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
