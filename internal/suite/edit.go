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

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// ErrByHand is wrapped where a file is written in a form that is better edited by people.
var ErrByHand = errors.New("edit it by hand")

// SetDefaults gives tunables of a benchmark other defaults in the text of a suite file. All
// else stays as it is written: order, spacing, comments. What it made is read again and
// compared, so that a text it does not understand is refused and never spoilt.
func SetDefaults(text []byte, benchmark string, values map[string]any) ([]byte, error) {
	root, before, err := readPlainly(text)
	if err != nil {
		return nil, err
	}
	parameters := below(root, "benchmarks", benchmark, "tune", "parameters")
	if parameters == nil {
		return nil, fmt.Errorf("this file has no benchmarks.%s.tune.parameters (it may stand in a file that is extended): %w", benchmark, ErrByHand)
	}
	var edits []edit
	want := before
	for _, name := range slices.Sorted(maps.Keys(values)) {
		n := below(parameters, name)
		if n == nil {
			return nil, fmt.Errorf("this file has no tunable %q of benchmark %q: %w", name, benchmark, ErrByHand)
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
		return nil, fmt.Errorf("the tunables of benchmark %q are written in a way that cannot be changed safely: %w", benchmark, ErrByHand)
	}
	return out, nil
}

// readPlainly reads a file as YAML means it, and as it is written.
func readPlainly(text []byte) (*yaml.Node, any, error) {
	if len(text) > maxFileSize || !utf8.Valid(text) {
		return nil, nil, fmt.Errorf("the file is not text, or longer than %d bytes", maxFileSize)
	}
	if p := new(problems); readYAML("pawl.yaml", text, p) == nil { // the limits on depth and aliases
		return nil, nil, p.err()
	}
	var doc yaml.Node
	var value any
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("not YAML: %w", err)
	}
	if err := doc.Decode(&value); err != nil || len(doc.Content) != 1 {
		return nil, nil, fmt.Errorf("not YAML of one value: %w", err)
	}
	return doc.Content[0], value, nil
}

// below goes down the keys of mappings; nil where there is no such value, or only an alias.
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

// withDefault is a copy of a value in which a tunable has another default.
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

// plainYAML is a value as the YAML parser would read what is written of it.
func plainYAML(v any) any {
	var out any
	if yaml.Unmarshal([]byte(spelledYAML(v)), &out) != nil {
		return nil
	}
	return out
}

// word is a text that needs no quotes anywhere.
var word = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// spelledYAML writes a value so that it can stand in any place.
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
	if err != nil { // of no string
		return s
	}
	return string(quoted)
}

// edit puts text in the place of other text.
type edit struct {
	from, to int // bytes
	text     string
}

func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at || e.to > len(text) {
			return nil // they overlap: what comes out is refused
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// newEdits changes how one tunable is written: its values alone, or a mapping.
func newEdits(text []byte, n *yaml.Node, value any) ([]edit, error) {
	at, ok := offset(text, n)
	if !ok || n.Anchor != "" {
		return nil, ErrByHand
	}
	said, flow := "default: "+spelledYAML(value), n.Style&yaml.FlowStyle != 0
	switch {
	case n.Kind == yaml.MappingNode:
		if old := below(n, "default"); old != nil {
			return replaced(text, old, value)
		}
		if len(n.Content) == 0 || below(n, "values") == nil {
			return nil, ErrByHand
		}
		if flow {
			return []edit{{at + 1, at + 1, said + ", "}}, nil
		}
		return []edit{{at, at, said + "\n" + strings.Repeat(" ", n.Column-1)}}, nil
	case n.Kind != yaml.SequenceNode:
		return nil, ErrByHand
	case flow:
		end := closing(text[at:])
		if end < 0 {
			return nil, ErrByHand
		}
		return []edit{{at, at, "{" + said + ", values: "}, {at + end, at + end, "}"}}, nil
	default: // items may stand as far to the right as the key they belong to
		indent := "\n" + strings.Repeat(" ", n.Column-1)
		return []edit{{at, at, said + indent + "values:" + indent}}, nil
	}
}

// replaced writes another value over a scalar.
func replaced(text []byte, n *yaml.Node, value any) ([]edit, error) {
	at, ok := offset(text, n)
	if !ok || n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return nil, ErrByHand
	}
	written := n.Value
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		written = `"` + n.Value + `"`
	case n.Style&yaml.SingleQuotedStyle != 0:
		written = "'" + n.Value + "'"
	}
	if !bytes.HasPrefix(text[at:], []byte(written)) { // escapes, several lines
		return nil, ErrByHand
	}
	return []edit{{at, at + len(written), spelledYAML(value)}}, nil
}

// offset is where a value begins in the text; the parser counts lines and characters.
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

// closing is behind the bracket that closes a list written in brackets; below zero where
// there is something in it that only a parser understands.
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
