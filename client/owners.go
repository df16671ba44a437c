package client

import (
	"regexp"
	"slices"
	"strings"
)

// maxOwnersFile is the size limit of GitHub for a CODEOWNERS file.
const maxOwnersFile = 3 << 20

// maxPattern limits the length of a pattern, which becomes a regular expression.
const maxPattern = 1024

// Owners maps the files of a repository to their owners, by GitHub's rules.
type Owners struct{ rules []ownersRule }

type ownersRule struct {
	pattern string
	owners  []string
}

// ParseOwners parses a CODEOWNERS file. It skips the lines that GitHub skips.
func ParseOwners(text []byte) Owners {
	var o Owners
	for l := range strings.Lines(string(text)) {
		pattern, rest, ok := cutPattern(strings.TrimSpace(l))
		if !ok {
			continue
		}
		owners, ok := ownersOf(rest)
		if ok {
			o.rules = append(o.rules, ownersRule{pattern, owners})
		}
	}
	return o
}

// cutPattern cuts the first word, which may contain escaped spaces, off a line. It rejects patterns that
// GitHub does not support: negation, ranges and an escaped #.
func cutPattern(l string) (pattern, rest string, ok bool) {
	if l == "" || l[0] == '#' || l[0] == '!' || strings.HasPrefix(l, `\#`) {
		return "", "", false
	}
	end := 0
	for end < len(l) && l[end] != ' ' && l[end] != '\t' {
		if l[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(l))
	pattern = l[:end]
	if len(pattern) > maxPattern || strings.ContainsAny(pattern, "[]") || strings.Trim(pattern, "/") == "" {
		return "", "", false
	}
	return pattern, l[end:], true
}

// ownersOf parses users, teams and email addresses up to a comment. It rejects a line that contains
// anything else.
func ownersOf(rest string) ([]string, bool) {
	var list []string
	for word := range strings.FieldsSeq(rest) {
		if word[0] == '#' {
			break
		}
		name, team := strings.CutPrefix(word, "@")
		if !team {
			name = strings.ReplaceAll(word, "@", "")
		}
		if name == "" || !team && (strings.Count(word, "@") != 1 || word[len(word)-1] == '@') || len(word) > maxName || !plain(word) {
			return nil, false
		}
		if len(list) < maxList {
			list = append(list, word)
		}
	}
	return list, true
}

// Of returns the owners of a file: those of the last matching line, which may have none.
func (o Owners) Of(file string) []string {
	for _, r := range slices.Backward(o.rules) {
		if r.matches(file) {
			return r.owners
		}
	}
	return nil
}

func (r ownersRule) matches(file string) bool {
	re, err := regexp.Compile(expression(r.pattern))
	return err == nil && re.MatchString(file)
}

// expression converts a pattern to a regular expression. A slash other than the last character anchors it
// to the root of the repository. The name of a directory matches everything below it, and a final /* only
// what is directly in it.
func expression(pattern string) string {
	var b strings.Builder
	body, anchored := strings.CutPrefix(pattern, "/")
	if trimmed := strings.TrimSuffix(body, "/"); !anchored && !strings.Contains(trimmed, "/") {
		b.WriteString(`^(?:.*/)?`)
	} else {
		b.WriteString(`^`)
	}
	end := `(?:/.*)?$`
	switch {
	case strings.HasSuffix(body, "/**"):
		body, end = strings.TrimSuffix(body, "/**"), `/.+$`
	case strings.HasSuffix(body, "/*"):
		end = `$`
	case strings.HasSuffix(body, "/"):
		body, end = strings.TrimSuffix(body, "/"), `/.+$`
	}
	for i := 0; i < len(body); i++ {
		switch rest := body[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			i++
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
		case rest[0] == '?':
			b.WriteString(`[^/]`)
		default:
			if rest[0] == '\\' && len(rest) > 1 {
				i++
			}
			// By byte: a multibyte character is the same sequence of bytes in the name.
			n := 1
			for i+n < len(body) && body[i] >= 0x80 && body[i+n] >= 0x80 && body[i+n] < 0xc0 {
				n++
			}
			b.WriteString(regexp.QuoteMeta(body[i : i+n]))
			i += n - 1
		}
	}
	return b.String() + end
}
