package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// What a command answers is taken apart here: numbers and truth values are pawl's own, and
// so are strings of which both the name of the field and the form are on the list of
// words.go. Every other string, whoever wrote it, moves to a field whose name begins with
// "untrusted_". That way a field that somebody adds tomorrow is marked until somebody has
// thought about it.

const (
	untrusted  = "untrusted_"
	maxString  = 4 << 10 // of one untrusted string
	maxDepth   = 40
	manyValues = 24  // numbers in a list beyond which it is summed up
	maxItems   = 400 // of any other list
)

// Mark is a document with every string that is not pawl's own in a field whose name begins
// with untrusted_.
func Mark(doc any) any {
	if m, ok := doc.(map[string]any); ok {
		return markObject(m, 0)
	}
	out := map[string]any{}
	put(out, "value", doc, 0)
	return out
}

// markObject marks the fields of an object. Names of fields can be somebody's words too,
// where an object is a table: those become a list of entries.
func markObject(m map[string]any, depth int) map[string]any {
	out := map[string]any{}
	var strange []any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(key, untrusted) || !ownKey(key) {
			if len(strange) < maxItems {
				entry := map[string]any{untrusted + "name": Harmless(key)}
				put(entry, "value", m[key], depth+1)
				strange = append(strange, entry)
			}
			continue
		}
		put(out, key, m[key], depth+1)
	}
	if strange != nil {
		out["entries"] = strange
	}
	return out
}

// put sets a field, or its marked namesake.
func put(out map[string]any, key string, value any, depth int) {
	if depth > maxDepth {
		out[key] = nil
		return
	}
	switch v := value.(type) {
	case nil, bool, json.Number, float64, int:
		out[key] = v
	case string:
		if ownString(key, v) {
			out[key] = v
		} else {
			out[untrusted+key] = Harmless(v)
		}
	case map[string]any:
		out[key] = markObject(v, depth)
	case []any:
		putList(out, key, v, depth)
	default:
		out[untrusted+key] = "" // nothing that JSON knows
	}
}

// putList marks a list. Its strings move together, so that what is left out is seen.
func putList(out map[string]any, key string, list []any, depth int) {
	if n := numbers(list); len(n) > manyValues {
		slices.Sort(n)
		out[key] = map[string]any{"count": len(n), "min": n[0], "median": n[len(n)/2], "max": n[len(n)-1]}
		return
	}
	left := max(0, len(list)-maxItems)
	list = list[:len(list)-left]
	own, words := true, false
	var items []any
	for _, item := range list {
		switch v := item.(type) {
		case string:
			own, words = own && ownString(key, v), true
			items = append(items, v)
		case map[string]any:
			items = append(items, markObject(v, depth+1))
		case []any:
			inner := map[string]any{}
			putList(inner, key, v, depth+1)
			items = append(items, inner)
		default:
			items = append(items, v)
		}
	}
	if words && !own {
		for i, v := range items {
			if s, ok := v.(string); ok {
				items[i] = Harmless(s)
			}
		}
		key = untrusted + key
	}
	if items == nil {
		items = []any{}
	}
	out[key] = items
	if left > 0 {
		out["left_out"] = left
	}
}

func numbers(list []any) []float64 {
	var out []float64
	for _, v := range list {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		f, err := n.Float64()
		if err != nil {
			return nil
		}
		out = append(out, f)
	}
	return out
}

// Harmless is text without anything that could act on a terminal or hide: control
// characters but for line ends and tabs, marks that turn the direction of writing,
// invisible and private letters. It is cut where it is long.
func Harmless(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxString {
			b.WriteString(" [cut]")
			break
		}
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError, invisible(r):
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0xad:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x180e, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe000 && r <= 0xf8ff, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000:
		return true
	}
	return false
}

// ownKey tells whether the name of a field is one of pawl's: short names of one or two words
// are, as nothing can be said in them; longer ones stand in the list of them.
func ownKey(key string) bool {
	return shortKey.MatchString(key) || paramForm.MatchString(key) || longKeys[key]
}

var shortKey = lazyregexp.New(`^[a-z][a-z0-9]{0,15}(_[a-z0-9]{1,12})?$`)
