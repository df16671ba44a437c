package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// ErrEditByHand is wrapped if a file is written in a form that must be edited by hand.
var ErrEditByHand = errors.New("edit the file by hand")

// SetDefaults sets the defaults of a benchmark's tunables in the text of a suite file. Everything
// else stays as written: order, spacing, comments. It parses the result and compares it with
// the intended values, so that it refuses a text it does not understand instead of damaging it.
func SetDefaults(text []byte, benchmark string, values map[string]any) ([]byte, error) {
	root, before, err := readPlainly(text)
	if err != nil {
		return nil, err
	}
	parameters := below(root, "benchmarks", benchmark, "tune", "parameters")
	if parameters == nil {
		return nil, fmt.Errorf("this file has no benchmarks.%s.tune.parameters (it may be in a file that this one extends): %w", benchmark, ErrEditByHand)
	}
	var edits []edit
	want := before
	for _, name := range slices.Sorted(maps.Keys(values)) {
		n := below(parameters, name)
		if n == nil {
			return nil, fmt.Errorf("this file has no tunable %q of benchmark %q: %w", name, benchmark, ErrEditByHand)
		}
		list, err := newEdits(text, n, values[name])
		if err != nil {
			return nil, fmt.Errorf("line %d, tunable %q: %w", n.Line, name, err)
		}
		edits = append(edits, list...)
		want = withDefault(want, values[name], "benchmarks", benchmark, "tune", "parameters", name)
	}
	out := apply(text, edits)
	if _, after, err := readPlainly(out); err != nil || !reflect.DeepEqual(after, want) {
		return nil, fmt.Errorf("cannot safely change the tunables of benchmark %q: %w", benchmark, ErrEditByHand)
	}
	return out, nil
}

// readPlainly parses a file and returns its syntax tree and its value.
func readPlainly(text []byte) (*yaml.Node, any, error) {
	if p := new(strictyaml.Problems); readYAML("pawl.yaml", text, p) == nil { // enforces the limits on depth and aliases
		return nil, nil, failure(p)
	}
	var doc yaml.Node
	var value any
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("invalid YAML: %w", err)
	}
	if err := doc.Decode(&value); err != nil {
		return nil, nil, fmt.Errorf("invalid YAML: %w", err)
	}
	if len(doc.Content) != 1 {
		return nil, nil, errors.New("the file has no value")
	}
	return doc.Content[0], value, nil
}

// below returns the value at a path of keys. It is nil if there is none, or if the path reaches an alias.
func below(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var next *yaml.Node
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				next = n.Content[i+1]
			}
		}
		if n = next; n == nil || n.Kind == yaml.AliasNode {
			return nil
		}
	}
	return n
}

// withDefault returns a copy of v with the default of a tunable set to value.
func withDefault(v, value any, keys ...string) any {
	if len(keys) == 0 {
		if m, ok := v.(map[string]any); ok {
			m = maps.Clone(m)
			m["default"] = plainYAML(value)
			return m
		}
		return map[string]any{"values": v, "default": plainYAML(value)}
	}
	m, _ := v.(map[string]any)
	m = maps.Clone(m)
	if m != nil {
		m[keys[0]] = withDefault(m[keys[0]], value, keys[1:]...)
	}
	return m
}

// plainYAML returns the value that the YAML parser reads back after spelledYAML.
func plainYAML(v any) any {
	var out any
	if yaml.Unmarshal([]byte(spelledYAML(v)), &out) != nil {
		return nil
	}
	return out
}

// word matches a text that never needs quotes.
var word = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// spelledYAML formats a value so that it is valid anywhere in a YAML file.
func spelledYAML(v any) string {
	s, ok := v.(string)
	if !ok {
		return formatValue(v)
	}
	var read any
	if word.MatchString(s) && yaml.Unmarshal([]byte(s), &read) == nil && read == v {
		return s
	}
	quoted, err := json.Marshal(s)
	if err != nil { // cannot happen for a string
		return s
	}
	return string(quoted)
}

// edit replaces a range of a text.
type edit struct {
	from, to int // byte offsets
	text     string
}

func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at || e.to > len(text) {
			return nil // they overlap: the caller rejects an empty result
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// newEdits returns the edits that set the default of one tunable, written as a list or a mapping.
func newEdits(text []byte, n *yaml.Node, value any) ([]edit, error) {
	at, ok := offset(text, n)
	if !ok || n.Anchor != "" {
		return nil, ErrEditByHand
	}
	said, flow := "default: "+spelledYAML(value), n.Style&yaml.FlowStyle != 0
	switch {
	case n.Kind == yaml.MappingNode:
		if old := below(n, "default"); old != nil {
			return replaced(text, old, value)
		}
		if len(n.Content) == 0 || below(n, "values") == nil {
			return nil, ErrEditByHand
		}
		if flow {
			return []edit{{at + 1, at + 1, said + ", "}}, nil
		}
		return []edit{{at, at, said + "\n" + strings.Repeat(" ", n.Column-1)}}, nil
	case n.Kind != yaml.SequenceNode:
		return nil, ErrEditByHand
	case flow:
		end := closing(text[at:])
		if end < 0 {
			return nil, ErrEditByHand
		}
		return []edit{{at, at, "{" + said + ", values: "}, {at + end, at + end, "}"}}, nil
	default: // items may be indented no deeper than their key
		indent := "\n" + strings.Repeat(" ", n.Column-1)
		return []edit{{at, at, said + indent + "values:" + indent}}, nil
	}
}

// replaced returns the edit that replaces a scalar with another value.
func replaced(text []byte, n *yaml.Node, value any) ([]edit, error) {
	at, ok := offset(text, n)
	if !ok || n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return nil, ErrEditByHand
	}
	written := n.Value
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		written = `"` + n.Value + `"`
	case n.Style&yaml.SingleQuotedStyle != 0:
		written = "'" + n.Value + "'"
	}
	if !bytes.HasPrefix(text[at:], []byte(written)) { // escapes, several lines
		return nil, ErrEditByHand
	}
	return []edit{{at, at + len(written), spelledYAML(value)}}, nil
}

// offset returns the byte offset of a value; the parser counts lines and characters.
func offset(text []byte, n *yaml.Node) (int, bool) {
	at := 0
	for range n.Line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return 0, false
		}
		at += i + 1
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(text[at:])
		if size == 0 {
			return 0, false
		}
		at += size
	}
	return at, at < len(text)
}

// closing returns the offset after the bracket that closes a list in flow style. It is negative
// if the list contains anything that needs a parser.
func closing(text []byte) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '#', '{':
			return -1
		}
	}
	return -1
}
