package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// kind is what an input may be. A kind has a schema, which clients see, and a check, which
// decides: what a pattern cannot say is asked here.
type kind int

const (
	glob    kind = iota // of cases
	ref                 // a commit, branch or tag
	file                // a file of the repository
	text                // something to write down
	slug                // a name of pawl's own: a lesson, a fix, a session
	number              // whole
	seconds             // a time
	ratio               // a speed-up
	enum                // one of a few words
	yes                 // a switch
	params              // N=65,S=17
)

// field is one input of a tool.
type field struct {
	name, about string
	kind        kind
	flag        string // of the command; empty for one that stands by itself
	least, most float64
	words       []string // of an enum
	must        bool
	otherwise   string // the value where none is given
}

const (
	maxName = 200
	maxText = 2000
)

// The letters of inputs. None begins with a hyphen, so that nothing can be taken for a flag.
var patterns = map[kind]string{
	glob:   `^[A-Za-z0-9_*?\[][A-Za-z0-9_./*?=,\[\]{}!+-]*$`,
	ref:    `^[A-Za-z0-9_][A-Za-z0-9_./~^@+-]*$`,
	file:   `^[A-Za-z0-9_.][A-Za-z0-9_./+=@ -]*$`,
	slug:   `^[A-Za-z0-9][A-Za-z0-9_./-]*$`,
	params: `^[A-Za-z_][A-Za-z0-9_]*=[0-9]+(,[A-Za-z_][A-Za-z0-9_]*=[0-9]+)*$`,
}

var compiled = func() map[kind]*lazyregexp.Regexp {
	m := map[kind]*lazyregexp.Regexp{}
	for k, p := range patterns {
		m[k] = lazyregexp.New(p)
	}
	return m
}()

// schema is the JSON Schema of an input.
func (f field) schema() map[string]any {
	m := map[string]any{"description": f.about}
	switch f.kind {
	case number:
		m["type"], m["minimum"], m["maximum"] = "integer", f.least, f.most
	case seconds, ratio:
		m["type"], m["minimum"], m["maximum"] = "number", f.least, f.most
	case yes:
		m["type"] = "boolean"
	case enum:
		m["type"], m["enum"] = "string", f.words
	case text:
		m["type"], m["maxLength"] = "string", maxText
	default:
		m["type"], m["maxLength"], m["minLength"], m["pattern"] = "string", maxName, 1, patterns[f.kind]
	}
	return m
}

// inputError says what is wrong with an input. Its text is pawl's own: the input is not
// repeated in it.
type inputError struct{ field, why string }

func (e *inputError) Error() string { return e.field + ": " + e.why }

// word reads the value of a field as a word of the command line.
func (f field) word(raw json.RawMessage) (string, error) {
	bad := func(format string, a ...any) (string, error) {
		return "", &inputError{f.name, fmt.Sprintf(format, a...)}
	}
	switch f.kind { //nolint:exhaustive // the others are texts
	case number, seconds, ratio:
		var n float64
		if err := json.Unmarshal(raw, &n); err != nil || math.IsNaN(n) {
			return bad("take a number")
		}
		if n < f.least || n > f.most {
			return bad("take %g to %g", f.least, f.most)
		}
		if f.kind == number && n != math.Trunc(n) {
			return bad("take a whole number")
		}
		if f.kind == seconds {
			return time.Duration(n * float64(time.Second)).Round(time.Millisecond).String(), nil
		}
		return strconv.FormatFloat(n, 'f', -1, 64), nil
	case yes:
		var b bool
		if err := json.Unmarshal(raw, &b); err != nil {
			return bad("take true or false")
		}
		return strconv.FormatBool(b), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return bad("take a string")
	}
	why := f.wrong(s)
	if why != "" {
		return bad("%s", why)
	}
	return s, nil
}

// wrong says what is wrong with a string; empty for nothing.
func (f field) wrong(s string) string {
	if !utf8.ValidString(s) {
		return "is not UTF-8"
	}
	switch f.kind { //nolint:exhaustive // the others have a pattern, or are no texts
	case enum:
		if !slices.Contains(f.words, s) {
			return "take one of " + strings.Join(f.words, ", ")
		}
		return ""
	case text:
		if len(s) > maxText {
			return fmt.Sprintf("is longer than %d bytes", maxText)
		}
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
			return "has control characters"
		}
		return ""
	}
	if s == "" || len(s) > maxName {
		return fmt.Sprintf("take 1 to %d letters", maxName)
	}
	if !compiled[f.kind].MatchString(s) {
		return "has letters that are not allowed here, or begins with one: " + patterns[f.kind]
	}
	if f.kind == ref {
		return wrongRef(s)
	}
	return ""
}

// wrongRef is what git itself refuses in a name, and everything that is more than one
// commit.
func wrongRef(s string) string {
	base, _, _ := strings.Cut(s, "~")
	base, _, _ = strings.Cut(base, "^")
	switch {
	case strings.Contains(s, ".."):
		return "name one commit, not a range"
	case strings.Contains(s, "@{"), strings.Contains(s, "//"), base == "@" && s != "@", base == "":
		return "is no name of a commit, a branch or a tag"
	}
	for part := range strings.SplitSeq(base, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasPrefix(part, "-") {
			return "is no name of a commit, a branch or a tag"
		}
	}
	return ""
}
