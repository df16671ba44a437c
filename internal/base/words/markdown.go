package words

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// MarkdownText escapes s so that Markdown shows it literally: no links, mentions, HTML, formulas or table
// cells. A forge searches for mentions and references after parsing the markup, so only an
// invisible space inside them prevents a match.
func MarkdownText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case Invisible(r):
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

// MarkdownLine is MarkdownText for the start of a line, where the text could start a list.
func MarkdownLine(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if rest == "" || !strings.ContainsRune("-+=.)", rune(rest[0])) {
		return MarkdownText(s)
	}
	return s[:len(s)-len(rest)] + "\\" + MarkdownText(rest)
}

// unlink breaks addresses that a forge would link automatically.
var unlink = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.", "WWW.", "WWW\u200b.")

// MarkdownCode formats a name as code that can be copied and has no other effect: a forge does not search code for mentions,
// references, emoji or links. A name with characters that could end the code is written as
// HTML, with each of those as a numeric reference.
func MarkdownCode(name string) string {
	if name == "" {
		return ""
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(PlainLetters+" %()", r) }) && strings.TrimSpace(name) == name {
		return "`" + name + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range name {
		switch {
		case Invisible(r):
		case r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~", r):
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "</code>"
}

// webAddress sanitizes a caller's address for a Markdown link; empty if it is not a web address.
func webAddress(url string) string {
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

// MarkdownLink returns a link with text shown literally; only the text if url is not a web
// address.
func MarkdownLink(text, url string) string {
	to := webAddress(url)
	if to == "" || len(to) > maxAddress {
		return MarkdownText(text)
	}
	return fmt.Sprintf("[%s](%s)", MarkdownText(text), to)
}

// maxAddress is the length of the longest address that becomes a link.
const maxAddress = 300

// PlainLetters are the characters that have no special meaning in a shell or in Markdown code.
const PlainLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@=+,-~^"
