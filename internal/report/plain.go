package report

import (
	"strings"
	"unicode"
)

// How much of what strangers wrote a report shows.
const (
	nameLength     = 160
	sentenceLength = 600
	marksOnLetter  = 3 // combining marks; more of them climb over the lines above
)

// plain makes text that a stranger wrote harmless before it enters a document:
// one line, no more than so many characters, nothing that moves a cursor, turns the
// direction of writing, or is there without being seen. What it lets through may still
// mean something in Markdown, HTML or XML: the renderers take care of that.
func plain(s string, most int) string {
	if len(s) <= most && printable(s) { // most of what there is: a page has thousands of titles
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	count, marks := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case hidden(r):
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

// printable tells of text that is ASCII without controls.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden tells of characters that a reader does not see: controls, marks of
// direction, joiners, fillers and selectors.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func plainAll(list []string, most int) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = plain(s, most)
	}
	return out
}
