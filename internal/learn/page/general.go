package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// The texts of gates speak of a session: {fact} is filled in, and what stands in [...] is
// left out where a fact is not known. A picture speaks of none.
var (
	optional = lazyregexp.New(`\[[^\[\]]*\]`)
	filled   = lazyregexp.New(`\{([^}|]*)(\|[^}]*)?\}`)
	aside    = lazyregexp.New(`\s*\([^()]*\{[^}]*\}[^()]*\)`)
	fromTo   = lazyregexp.New(`\s*from \{[^}]*\} to \{[^}]*\}`)
	toOne    = lazyregexp.New(` to \{[^}]*\}`)
)

// names are what stands in for a fact where nothing is known.
var names = map[string]string{
	"changes": "two things", "put_back": "one of them", "reference": "the reference", "first_bad": "the smallest wrong config",
	"smallest": "CASE", "largest": "CASE", "profile_case": "CASE", "replay": "pawl fuzz --replay FILE",
	"failed_points": "some", "points": "all", "configs_measured": "some", "configs": "all",
}

// general is a text of a gate without a session: the sentences that need no number, or,
// where each does, all of them with words for the facts.
func general(text string) string {
	for optional.MatchString(text) {
		text = optional.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "{blocks_per_sm + 1} blocks fit", "one more block fits")
	text = toOne.ReplaceAllString(fromTo.ReplaceAllString(aside.ReplaceAllString(text, ""), ""), "")
	var keep []string
	for part := range strings.SplitSeq(text, ". ") {
		if part = strings.TrimSpace(part); part != "" && !filled.MatchString(part) {
			keep = append(keep, strings.TrimSuffix(part, "."))
		}
	}
	if len(keep) > 0 && filled.MatchString(text) {
		return strings.Join(keep, ". ") + "."
	}
	text = filled.ReplaceAllStringFunc(text, func(m string) string {
		if name, ok := names[filled.FindStringSubmatch(m)[1]]; ok {
			return name
		}
		return "…"
	})
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return upper(text)
}

// upper begins a sentence; a command stays as it is typed.
func upper(text string) string {
	if strings.HasPrefix(text, "pawl ") || strings.HasPrefix(text, "git ") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
