package strictyaml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// source is the text of a file, for positions inside a value.
type source struct {
	name  string
	lines []string
}

// Kind is the kind of a value.
type Kind uint8

// The kinds.
const (
	Scalar Kind = iota
	List
	Map
)

// Node is a YAML value with its position. Aliases are expanded, duplicate keys are removed
// (and reported), numbers are parsed.
type Node struct {
	file      *source
	line, col int
	Kind      Kind

	// For a scalar: its tag as YAML resolved it ("str", "int", "float", "bool", "null"), its
	// text, and its value if it is a number.
	Tag  string
	Text string
	Num  float64

	Keys  []*Node // of a map, parallel to Items
	Items []*Node // of a list or a map

	// Incomplete reports that a part could not be read and is missing. The error was reported.
	Incomplete bool
}

// Pos returns the position of the value.
func (n *Node) Pos() Position {
	return Position{n.file.name, n.line, n.col}
}

// At returns a copy of the value with the position of another.
func (n *Node) At(other *Node) *Node {
	out := *n
	out.file, out.line, out.col = other.file, other.line, other.col
	return &out
}

// SameFile reports whether two values are from one file.
func (n *Node) SameFile(other *Node) bool { return n.file == other.file }

// IsNull reports whether the value is missing.
func (n *Node) IsNull() bool { return n.Kind == Scalar && n.Tag == "null" }

// IsText reports whether the value is text.
func (n *Node) IsText() bool { return n.Kind == Scalar && n.Tag == "str" }

// IsNumber reports whether the value is a number.
func (n *Node) IsNumber() bool { return n.Kind == Scalar && (n.Tag == "int" || n.Tag == "float") }

// IsBool reports whether the value is true or false.
func (n *Node) IsBool() bool { return n.Kind == Scalar && n.Tag == "bool" }

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k.Text == key {
			return n.Items[i]
		}
	}
	return nil
}

// With returns a copy of a mapping with key set to value, or without key if value is nil.
func (n *Node) With(key string, value *Node) *Node {
	out := *n
	out.Keys, out.Items = slices.Clone(n.Keys), slices.Clone(n.Items)
	i := slices.IndexFunc(out.Keys, func(k *Node) bool { return k.Text == key })
	switch {
	case i >= 0 && value == nil:
		out.Keys, out.Items = slices.Delete(out.Keys, i, i+1), slices.Delete(out.Items, i, i+1)
	case i >= 0:
		out.Items[i] = value
	case value != nil:
		name := &Node{Tag: "str", Text: key}
		out.Keys, out.Items = append(out.Keys, name.At(value)), append(out.Items, value)
	}
	return &out
}

// Merge overlays one tree on another: mappings merge key by key, everything else is replaced.
// A mapping is not replaced by null.
func Merge(base, over *Node) *Node {
	switch {
	case base == nil:
		return over
	case over == nil, base.Kind == Map && over.IsNull():
		return base
	case base.Kind != Map || over.Kind != Map:
		return over
	}
	out := *over
	out.Keys, out.Items = slices.Clone(base.Keys), slices.Clone(base.Items)
	out.Incomplete = base.Incomplete || over.Incomplete
	index := make(map[string]int, len(base.Keys))
	for i, key := range base.Keys {
		index[key.Text] = i
	}
	for i, key := range over.Keys {
		at, ok := index[key.Text]
		if !ok {
			out.Keys, out.Items = append(out.Keys, key), append(out.Items, over.Items[i])
			continue
		}
		out.Keys[at], out.Items[at] = key, Merge(out.Items[at], over.Items[i])
	}
	return &out
}

// Complete reports whether every part of the value could be read.
func (n *Node) Complete() bool {
	return !n.Incomplete && !slices.ContainsFunc(n.Items, func(i *Node) bool { return !i.Complete() })
}

// Describe returns a description of a value for a message.
func (n *Node) Describe() string {
	switch {
	case n.Kind == List:
		return "a list"
	case n.Kind == Map:
		return "a mapping"
	case n.IsNull():
		return "nothing"
	case n.IsText():
		return "text " + strconv.Quote(Shorten(n.Text))
	case n.IsNumber():
		return "the number " + Shorten(n.Text)
	default:
		return Shorten(n.Text)
	}
}

// Inside returns the position of a character of a scalar's text. Escapes and block scalars
// change the text. If the text does not occur in the file as is, Inside returns the position
// of the scalar.
func (n *Node) Inside(char int) Position {
	at := n.Pos()
	if n.line > len(n.file.lines) || strings.ContainsAny(n.Text, "\n") {
		return at
	}
	written := []rune(n.file.lines[n.line-1])
	if n.col > len(written) {
		return at
	}
	rest := string(written[n.col-1:])
	switch {
	case strings.HasPrefix(rest, n.Text):
		at.Col += char
	case strings.HasPrefix(rest, `"`+n.Text), strings.HasPrefix(rest, "'"+n.Text):
		at.Col += char + 1
	}
	return at
}

// Plain returns the value without positions: a map, a slice, a float64, a string, a bool or nil.
func (n *Node) Plain() any {
	switch {
	case n.Kind == List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Plain()
		}
		return list
	case n.Kind == Map:
		m := map[string]any{}
		for i, key := range n.Keys {
			m[key.Text] = n.Items[i].Plain()
		}
		return m
	case n.IsNumber():
		return n.Num
	case n.IsBool():
		return strings.EqualFold(n.Text, "true")
	case n.IsNull():
		return nil
	default:
		return n.Text
	}
}

// Append appends the value in a form for digests. Every string comes with its length, so that different trees
// give different text.
func (n *Node) Append(text []byte) []byte {
	switch n.Kind {
	case Scalar:
		return fmt.Appendf(text, "%s %d:%s\n", n.Tag, len(n.Text), n.Text)
	case List:
		text = fmt.Appendf(text, "list %d\n", len(n.Items))
	case Map:
		text = fmt.Appendf(text, "map %d\n", len(n.Items))
	}
	for i, item := range n.Items {
		if n.Kind == Map {
			text = n.Keys[i].Append(text)
		}
		text = item.Append(text)
	}
	return text
}

// ambiguousText matches text that must be quoted and that the YAML library does not quote: the merge key, what YAML 1.1
// reads as a boolean or as a number of base 60, and a tab at the start, which cannot start a block of lines.
var ambiguousText = lazyregexp.New(`^(?i:<<|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)$|^\t`)

// Marshal returns the value as YAML.
func (n *Node) Marshal() ([]byte, error) { return yaml.Marshal(n.yaml()) }

func (n *Node) yaml() *yaml.Node {
	switch n.Kind {
	case Map:
		y := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for i, key := range n.Keys {
			y.Content = append(y.Content, key.yaml(), n.Items[i].yaml())
		}
		return y
	case List:
		y := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range n.Items {
			y.Content = append(y.Content, item.yaml())
		}
		return y
	default:
		y := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!" + n.Tag, Value: n.Text}
		if n.IsText() && ambiguousText.MatchString(n.Text) {
			y.Style = yaml.DoubleQuotedStyle
		}
		return y
	}
}
