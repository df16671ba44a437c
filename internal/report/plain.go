package report

import (
	"strings"
	"unicode"
)

// Length limits for untrusted text in a report.
const (
	nameLength     = 160
	sentenceLength = 600
	marksOnLetter  = 3 // combining marks; more would stack over the lines above
)

// sanitize sanitizes untrusted text before it enters a document: one line of limited length,
// nothing that moves the cursor, changes the text direction or is invisible. The result may
// still have meaning in Markdown, HTML or XML; the renderers escape it.
func sanitize(s string, most int) string {
	if len(s) <= most && printable(s) { // the common case: a page has thousands of titles
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	count, marks := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case isInvisible(r):
			continue
		}
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if marks > marksOnLetter {
			continue
		}
		if count++; count > most {
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

// isInvisible reports whether r is invisible: controls, direction marks, joiners, fillers and
// selectors.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func plainAll(list []string, most int) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = sanitize(s, most)
	}
	return out
}
