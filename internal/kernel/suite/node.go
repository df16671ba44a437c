package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits on one file: far above any real suite, and low enough that no file can exhaust the
// machine.
const (
	maxFileSize = 4 << 20
	maxDepth    = 32
	maxNodes    = 500_000 // after expanding aliases: ten lines of them can expand to billions
)

// source is the text of a file, for error positions.
type source struct {
	name  string
	lines []string
}

// position is a position in a file; columns count characters, from 1.
type position struct {
	file      *source
	line, col int
}

func (p position) problem(hint, format string, args ...any) *Error {
	return &Error{File: p.file.name, Line: p.line, Col: p.col, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

// node is a YAML value with its position. Aliases are expanded, duplicate keys are removed
// (and reported), numbers are parsed.
type node struct {
	file      *source
	line, col int
	kind      nodeKind

	// For a scalar: its tag as YAML resolved it ("str", "int", "float", "bool", "null"), its
	// text, and its value if it is a number.
	tag  string
	text string
	num  float64

	keys  []*node // of a map, parallel to items
	items []*node // of a list or a map

	// incomplete reports that a part could not be read and is missing. The error was reported.
	incomplete bool
}

func (n *node) pos() position { return position{n.file, n.line, n.col} }

func (n *node) isNull() bool   { return n.kind == scalarNode && n.tag == "null" }
func (n *node) isText() bool   { return n.kind == scalarNode && n.tag == "str" }
func (n *node) isNumber() bool { return n.kind == scalarNode && (n.tag == "int" || n.tag == "float") }
func (n *node) isBool() bool   { return n.kind == scalarNode && n.tag == "bool" }

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return nil
}

// complete reports whether every part of the value could be read.
func (n *node) complete() bool {
	return !n.incomplete && !slices.ContainsFunc(n.items, func(i *node) bool { return !i.complete() })
}

// describe returns a description of a value for a message.
func (n *node) describe() string {
	switch {
	case n.kind == listNode:
		return "a list"
	case n.kind == mapNode:
		return "a mapping"
	case n.isNull():
		return "nothing"
	case n.isText():
		return "text " + strconv.Quote(shorten(n.text))
	case n.isNumber():
		return "the number " + shorten(n.text)
	default:
		return shorten(n.text)
	}
}

func shorten(s string) string { return truncate(s, 40) }

// inside returns the position of a character of a scalar's text. Escapes and block scalars
// change the text. If the text does not occur in the file as is, inside returns the position
// of the scalar.
func (n *node) inside(char int) position {
	at := n.pos()
	if n.line > len(n.file.lines) || strings.ContainsAny(n.text, "\n") {
		return at
	}
	written := []rune(n.file.lines[n.line-1])
	if n.col > len(written) {
		return at
	}
	rest := string(written[n.col-1:])
	switch {
	case strings.HasPrefix(rest, n.text):
		at.col += char
	case strings.HasPrefix(rest, `"`+n.text), strings.HasPrefix(rest, "'"+n.text):
		at.col += char + 1
	}
	return at
}

// readYAML parses one file. It reports mistakes to p, and returns nil if there is nothing to decode.
func readYAML(name string, data []byte, p *problems) *node {
	src := &source{name: name}
	start := position{src, 1, 1}
	switch {
	case len(data) > maxFileSize:
		p.addAt(start, "", "the file has %d bytes, the limit is %d", len(data), maxFileSize)
		return nil
	case !utf8.Valid(data):
		p.addAt(start, "", "the file is not UTF-8 text")
		return nil
	}
	src.lines = strings.Split(string(data), "\n")

	var doc, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		p.addAt(start, `start with "version: 1"`, "the file is empty")
		return nil
	case err != nil:
		addSyntaxError(src, err, p)
		return nil
	}
	if err := decoder.Decode(&second); err == nil {
		p.addAt(position{src, max(1, second.Line), max(1, second.Column)}, `remove the "---"`, "a suite must be one YAML document, this is a second one")
	} else if !errors.Is(err, io.EOF) {
		addSyntaxError(src, err, p)
	}
	b := &treeBuilder{file: src, problems: p, open: map[*yaml.Node]bool{}}
	return b.build(doc.Content[0], 0)
}

// Patterns for errors of the YAML parser. Errors of its grammar name the line before the right one, errors of
// its scanner the right one.
var (
	yamlLine           = lazyregexp.New(`^yaml: (?:line (\d+): )?(?s:(.*))$`)
	yamlCountsFromZero = lazyregexp.New(`^did not find expected (<|node content|'-' indicator|key|',' or )`)
	yamlUnknownAnchor  = lazyregexp.New(`^unknown anchor '(.+)' referenced$`)
)

// find returns the first position of a text, or the start of the file.
func (s *source) find(text string) position {
	for i, line := range s.lines {
		if before, _, ok := strings.Cut(line, text); ok {
			return position{s, i + 1, utf8.RuneCountInString(before) + 1}
		}
	}
	return position{s, 1, 1}
}

// addSyntaxError reports an error of the YAML parser, which knows only the line.
func addSyntaxError(src *source, err error, p *problems) {
	at, msg, hint := position{src, 1, 1}, err.Error(), ""
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			if yamlCountsFromZero.MatchString(msg) {
				line++
			}
			at.line = min(line, len(src.lines))
		}
	}
	if m := yamlUnknownAnchor.FindStringSubmatch(msg); m != nil {
		at = src.find("*" + m[1])
	}
	if strings.Contains(msg, "cannot start any token") && strings.Contains(src.lines[at.line-1], "\t") {
		hint = "indent with spaces, not tabs"
	}
	p.addAt(at, hint, "invalid YAML: %s", msg)
}

// treeBuilder converts YAML nodes to our own, within the limits.
type treeBuilder struct {
	file *source
	*problems
	count int
	open  map[*yaml.Node]bool // anchors being expanded
}

func (b *treeBuilder) build(y *yaml.Node, depth int) *node {
	n := &node{file: b.file, line: y.Line, col: y.Column}
	b.count++
	switch {
	case b.count == maxNodes:
		b.add(n, "", "the file has more than %d values after expanding aliases", maxNodes)
		return nil
	case b.count > maxNodes:
		return nil
	case depth > maxDepth:
		b.add(n, "", "nested deeper than %d levels", maxDepth)
		return nil
	}
	switch y.Kind {
	case yaml.AliasNode:
		if b.open[y.Alias] {
			b.add(n, "", "alias *%s is inside its own anchor", y.Value)
			return nil
		}
		b.open[y.Alias] = true
		defer delete(b.open, y.Alias)
		return b.build(y.Alias, depth+1)
	case yaml.MappingNode:
		return b.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.kind = listNode
		for _, item := range y.Content {
			i := b.build(item, depth+1)
			if i == nil {
				n.incomplete = true
				continue
			}
			n.items = append(n.items, i)
		}
		return n
	default:
		return b.scalar(n, y)
	}
}

func (b *treeBuilder) mapping(n *node, y *yaml.Node, depth int) *node {
	n.kind = mapNode
	first := map[string]*node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := &node{file: b.file, line: y.Content[i].Line, col: y.Content[i].Column, tag: "str", text: y.Content[i].Value}
		switch {
		case y.Content[i].Kind != yaml.ScalarNode:
			b.add(key, "", "a key must be a plain word")
			continue
		case y.Content[i].Tag == "!!merge":
			b.add(key, "repeat the keys, or put them in a file and extend it", `merge keys ("<<") are not supported`)
			continue
		case first[key.text] != nil:
			b.add(key, "", "duplicate key %q, first on line %d", key.text, first[key.text].line)
			continue
		}
		first[key.text] = key
		item := b.build(y.Content[i+1], depth+1)
		if item == nil {
			n.incomplete = true
			continue
		}
		n.keys, n.items = append(n.keys, key), append(n.items, item)
	}
	return n
}

func (b *treeBuilder) scalar(n *node, y *yaml.Node) *node {
	n.text, n.tag = y.Value, strings.TrimPrefix(y.ShortTag(), "!!")
	switch n.tag {
	case "str", "bool", "null":
	case "timestamp":
		n.tag = "str" // type date checks the spelling
	case "int", "float":
		if err := y.Decode(&n.num); err != nil || math.IsNaN(n.num) || math.IsInf(n.num, 0) {
			b.add(n, "", "%s is not a finite number", shorten(n.text))
			return nil
		}
	default:
		b.add(n, "", "tag %s is not supported in a suite", y.Tag)
		return nil
	}
	if strings.ContainsRune(n.text, 0) {
		b.add(n, "", "text cannot contain a NUL character")
		return nil
	}
	return n
}
