package words

import (
	"strings"
	"unicode"
)

// Length limits for untrusted text in a report.
const (
	NameLength     = 160
	SentenceLength = 600
	marksOnLetter  = 3 // combining marks; more would stack over the lines above
)

// Sanitize sanitizes an untrusted name or sentence for display: one line of limited length
// without invisible characters. The result may still contain markup.
func Sanitize(s string) string { return SanitizeTo(s, SentenceLength) }

// SanitizeTo sanitizes untrusted text: one line of at most limit characters, with nothing that moves the cursor, changes the text direction or is invisible. The result may
// still have meaning in Markdown, HTML or XML; the renderers escape it.
func SanitizeTo(s string, limit int) string {
	if len(s) <= limit && printable(s) { // the common case: a page has thousands of titles
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	count, marks := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case Invisible(r):
			continue
		}
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if marks > marksOnLetter {
			continue
		}
		if count++; count > limit {
			return strings.TrimSpace(b.String()) + "…"
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// printable reports whether s is ASCII without control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Invisible reports whether r is invisible: controls, direction marks, joiners, fillers and
// selectors.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// SanitizeAll applies SanitizeTo to every text of a list.
func SanitizeAll(list []string, limit int) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = SanitizeTo(s, limit)
	}
	return out
}
