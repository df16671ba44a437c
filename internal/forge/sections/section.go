// Package sections writes the one report on a pull request as a note with sections, which several jobs share without a lock. It
// must not know any forge's API, nor what the texts mean.
package sections

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge"
)

// The report is one comment: a first line that identifies it, then sections between
// invisible marks. Text between sections is discarded.
const (
	reportMark   = "<!-- pawl:report -->"
	commentLimit = 65_536 // characters: the limit of GitHub, the lowest
	keyLimit     = 200
	maxSections  = 64 // their marks still fit into a comment
	cutNote      = "*Shortened: a comment is limited to 65,536 characters. The check has the full text.*"
)

var (
	keyPattern = lazyregexp.New(`^[a-z0-9][a-z0-9./-]*$`)
	openMark   = lazyregexp.New(`(?m)^<!-- pawl:section ([a-z0-9][a-z0-9./-]*) sha256=([0-9a-f]{64}) -->[ \t]*$`)
)

// section is a part of the report as written in a comment.
type section struct {
	key    string
	digest string // of the writer's full text: a shortened section keeps it
	text   string
}

func newSection(s forge.Section) section {
	text := strings.Trim(escapeMarks(Normalize(s.Body)), "\n")
	sum := sha256.Sum256([]byte(text))
	return section{key: s.Key, digest: hex.EncodeToString(sum[:]), text: text}
}

// escapeMarks keeps a text from ending its section or starting another.
func escapeMarks(s string) string {
	s = strings.ReplaceAll(s, "<!-- pawl:", "&lt;!-- pawl:")
	return strings.ReplaceAll(s, "<!-- /pawl:", "&lt;!-- /pawl:")
}

// Normalize removes what a forge may change in a text.
func Normalize(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"), "\x00", "")
}

func validKey(key string) bool {
	// Some HTML parsers end a comment at "--".
	return len(key) <= keyLimit && keyPattern.MatchString(key) && !strings.Contains(key, "--")
}

// parse returns the sections of a comment, sorted by key. It accepts any text: of two
// sections with the same key the first counts, and one without an end extends to the next.
func parse(body string) (sections []section, ok bool) {
	body = Normalize(body)
	rest, ok := strings.CutPrefix(strings.TrimLeft(body, " \t\n"), reportMark)
	if !ok {
		return nil, false
	}
	opens := openMark.FindAllStringSubmatchIndex(rest, maxSections)
	for i, at := range opens {
		end := len(rest)
		if i+1 < len(opens) {
			end = opens[i+1][0]
		}
		s := section{key: rest[at[2]:at[3]], digest: rest[at[4]:at[5]], text: rest[at[1]:end]}
		s.text, _, _ = strings.Cut(s.text, "\n"+closeMark(s.key))
		s.text = strings.Trim(s.text, "\n")
		if validKey(s.key) && !slices.ContainsFunc(sections, func(o section) bool { return o.key == s.key }) {
			s.text = escapeMarks(s.text)
			sections = append(sections, s)
		}
	}
	sortSections(sections)
	return sections, true
}

func sortSections(s []section) {
	slices.SortStableFunc(s, func(a, b section) int { return strings.Compare(a.key, b.key) })
}

func closeMark(key string) string { return "<!-- /pawl:section " + key + " -->" }

// put replaces the section with that key, or adds it.
func put(sections []section, s section) []section {
	out := slices.DeleteFunc(slices.Clone(sections), func(o section) bool { return o.key == s.key })
	out = append(out, s)
	sortSections(out)
	return out
}

// render writes the report. If it exceeds the limit, the longest sections are
// shortened and marked as such.
func render(sections []section) string {
	sections = slices.Clone(sections)
	for i := range sections {
		sections[i].text = Shorten(sections[i].text, commentLimit)
	}
	for allowed := commentLimit; ; {
		text := write(sections)
		over := length(text) - commentLimit
		if over <= 0 {
			return text
		}
		// Lower the allowed length until it fits: shorter sections stay complete.
		longest := 0
		for _, s := range sections {
			longest = max(longest, length(s.text))
		}
		allowed = min(allowed, longest) - max(over/max(len(sections), 1), 1)
		for i := range sections {
			sections[i].text = Shorten(sections[i].text, allowed)
		}
	}
}

func write(sections []section) string {
	var b strings.Builder
	b.WriteString(reportMark + "\n")
	for _, s := range sections {
		b.WriteString("<!-- pawl:section " + s.key + " sha256=" + s.digest + " -->\n")
		b.WriteString(s.text + "\n" + closeMark(s.key) + "\n")
	}
	return b.String()
}

// length counts as a forge may: a character outside the BMP counts as two.
func length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Shorten cuts at the end of a line and closes what is open there.
func Shorten(text string, allowed int) string {
	if length(text) <= allowed {
		return text
	}
	var ends string
	room := allowed - length(cutNote) - 4
	for range 3 { // the closing marks need space too
		cut := Prefix(text, room-length(ends))
		if i := strings.LastIndexByte(cut, '\n'); i >= 0 {
			cut = cut[:i]
		}
		needs := closing(cut)
		if length(needs) <= length(ends) {
			return strings.TrimRight(cut, "\n") + needs + "\n\n" + cutNote
		}
		ends = needs
	}
	return cutNote
}

// Prefix returns the first n characters of a text.
func Prefix(s string, n int) string {
	if n <= 0 {
		return ""
	}
	at := 0
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if n--; r > 0xffff {
			n--
		}
		if n < 0 {
			break
		}
		at += size
	}
	return s[:at]
}

// closing returns what closes the fences and folds that a text leaves open.
func closing(text string) string {
	var fence string
	folds := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(mark) >= 3:
			fence = mark
		case fence != "" && len(mark) >= len(fence) && line == mark:
			fence = ""
		case fence == "":
			folds += strings.Count(line, "<details") - strings.Count(line, "</details>")
		}
	}
	var ends string
	if fence != "" {
		ends = "\n" + fence
	}
	return ends + strings.Repeat("\n</details>", min(max(folds, 0), 20))
}
