// Package strictyaml reads the YAML files that people write. It keeps the position of every value, rejects
// what a file may not contain, and reports all mistakes at once, each with file, line and column.
//
// Walker parses a file and helps to walk its nodes. Read builds a tree with aliases expanded, numbers parsed
// and duplicate keys removed. Decode fills a struct from such a tree and rejects unknown keys with a suggestion.
//
// The package does not know what any file means.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// Format describes a kind of file: its limit and the words of its messages.
type Format struct {
	Name     string // "a suite"
	MaxBytes int
	Invalid  string // what introduces a syntax error; empty means "invalid YAML"
	Colon    string // hint for a colon in text without quotes
	NoMerge  string // hint for a merge key ("<<"), which it then rejects
}

// Walker parses one file and records mistakes in it.
type Walker struct {
	*Problems
	File string
}

// Parse returns the root of the file, or nil for an empty one. It returns false if there is nothing to read;
// the reason is recorded.
func (w *Walker) Parse(data []byte, f Format) (*yaml.Node, bool) {
	start := Position{w.File, 1, 1}
	switch {
	case len(data) > f.MaxBytes:
		w.AddAt(start, "", "the file has %d bytes, the limit is %d", len(data), f.MaxBytes)
		return nil, false
	case !utf8.Valid(data):
		w.AddAt(start, "", "the file is not UTF-8 text")
		return nil, false
	}
	var doc, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		return nil, true
	case err != nil:
		w.syntaxError(data, err, f)
		return nil, false
	}
	if err := decoder.Decode(&second); err == nil {
		w.Fail(&second, `remove the "---"`, "%s must be one YAML document, this is a second one", f.Name)
	} else if !errors.Is(err, io.EOF) {
		w.syntaxError(data, err, f)
	}
	return doc.Content[0], true
}

// At returns the position of a node.
func (w *Walker) At(n *yaml.Node) Position { return Position{w.File, max(n.Line, 1), max(n.Column, 1)} }

// Fail records a mistake at a node.
func (w *Walker) Fail(n *yaml.Node, hint, format string, args ...any) {
	w.AddAt(w.At(n), hint, format, args...)
}

// Keys calls a function for each key of a mapping, and rejects unknown and repeated keys. what names the
// mapping. It returns the keys of the mapping.
func (w *Walker) Keys(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) map[string]bool {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := keys[key.Value]
		switch {
		case !ok:
			known := make([]string, 0, len(keys))
			for k := range keys {
				known = append(known, k)
			}
			slices.Sort(known)
			hint := "there are " + strings.Join(known, ", ")
			if near := spell.Nearest(key.Value, known); near != "" {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			w.Fail(key, hint, "%s has no key %.40q", what, key.Value)
		case seen[key.Value]:
			w.Fail(key, "", "%s has the key %q twice", what, key.Value)
		default:
			seen[key.Value] = true
			read(n.Content[i+1])
		}
	}
	return seen
}

// Patterns for errors of the YAML parser. Errors of its grammar name the line before the right one, errors of
// its scanner the right one.
var (
	yamlLine           = lazyregexp.New(`^yaml: (?:line (\d+): )?(?s:(.*))$`)
	yamlCountsFromZero = lazyregexp.New(`^did not find expected (<|node content|'-' indicator|key|',' or )`)
	yamlUnknownAnchor  = lazyregexp.New(`^unknown anchor '(.+)' referenced$`)
)

// syntaxError reports an error of the YAML parser, which knows only the line.
func (w *Walker) syntaxError(data []byte, err error, f Format) {
	at, msg, hint := Position{w.File, 1, 1}, err.Error(), ""
	lines := strings.Split(string(data), "\n")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			if yamlCountsFromZero.MatchString(msg) {
				line++
			}
			at.Line = min(line, len(lines))
		}
	}
	if m := yamlUnknownAnchor.FindStringSubmatch(msg); m != nil {
		at.Line, at.Col = find(lines, "*"+m[1])
	}
	switch {
	case strings.Contains(msg, "cannot start any token") && strings.Contains(lines[at.Line-1], "\t"):
		hint = "indent with spaces, not tabs"
	case strings.Contains(msg, "mapping values are not allowed"):
		hint = f.Colon
	}
	w.AddAt(at, hint, "%s: %s", cmp.Or(f.Invalid, "invalid YAML"), msg)
}

// find returns the first position of a text, or the start of the file.
func find(lines []string, text string) (line, col int) {
	for i, line := range lines {
		if before, _, ok := strings.Cut(line, text); ok {
			return i + 1, utf8.RuneCountInString(before) + 1
		}
	}
	return 1, 1
}

// Limits on one tree: far above any real file, and low enough that no file can exhaust the
// machine.
const (
	maxDepth = 32
	maxNodes = 500_000 // after expanding aliases: ten lines of them can expand to billions
)

// Read returns the tree of a file. It reports mistakes to p, and returns nil if the file is empty or cannot be
// read.
func Read(name string, data []byte, f Format, p *Problems) *Node {
	w := Walker{p, name}
	root, _ := w.Parse(data, f)
	if root == nil {
		return nil
	}
	b := &treeBuilder{file: &source{name, strings.Split(string(data), "\n")}, Format: f, Problems: p, open: map[*yaml.Node]bool{}}
	return b.build(root, 0)
}

// treeBuilder converts YAML nodes to our own, within the limits.
type treeBuilder struct {
	file *source
	Format
	*Problems
	count int
	open  map[*yaml.Node]bool // anchors being expanded
}

func (b *treeBuilder) build(y *yaml.Node, depth int) *Node {
	n := &Node{file: b.file, line: y.Line, col: y.Column}
	b.count++
	switch {
	case b.count == maxNodes:
		b.Add(n, "", "the file has more than %d values after expanding aliases", maxNodes)
		return nil
	case b.count > maxNodes:
		return nil
	case depth > maxDepth:
		b.Add(n, "", "nested deeper than %d levels", maxDepth)
		return nil
	}
	switch y.Kind {
	case yaml.AliasNode:
		if b.open[y.Alias] {
			b.Add(n, "", "alias *%s is inside its own anchor", y.Value)
			return nil
		}
		b.open[y.Alias] = true
		defer delete(b.open, y.Alias)
		return b.build(y.Alias, depth+1)
	case yaml.MappingNode:
		return b.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			i := b.build(item, depth+1)
			if i == nil {
				n.Incomplete = true
				continue
			}
			n.Items = append(n.Items, i)
		}
		return n
	default:
		return b.scalar(n, y)
	}
}

func (b *treeBuilder) mapping(n *Node, y *yaml.Node, depth int) *Node {
	n.Kind = Map
	first := map[string]*Node{}
	var merged *Node // what "<<" adds; the keys of the mapping itself override it
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := &Node{file: b.file, line: y.Content[i].Line, col: y.Content[i].Column, Tag: "str", Text: y.Content[i].Value}
		switch {
		case y.Content[i].Kind != yaml.ScalarNode:
			b.Add(key, "", "a key must be a plain word")
			continue
		case y.Content[i].Tag == "!!merge" && b.NoMerge != "":
			b.Add(key, b.NoMerge, `merge keys ("<<") are not supported`)
			continue
		case first[key.Text] != nil:
			b.Add(key, "", "duplicate key %q, first on line %d", key.Text, first[key.Text].line)
			continue
		}
		first[key.Text] = key
		item := b.build(y.Content[i+1], depth+1)
		switch {
		case item == nil:
			n.Incomplete = true
		case y.Content[i].Tag != "!!merge":
			n.Keys, n.Items = append(n.Keys, key), append(n.Items, item)
		case item.Kind == Map:
			merged = item
		default:
			b.Add(item, "", "<<: expected a mapping, got %s", item.Describe())
		}
	}
	if merged != nil {
		for i, key := range merged.Keys {
			if n.Get(key.Text) == nil {
				n.Keys, n.Items = append(n.Keys, key), append(n.Items, merged.Items[i])
			}
		}
	}
	return n
}

func (b *treeBuilder) scalar(n *Node, y *yaml.Node) *Node {
	n.Text, n.Tag = y.Value, strings.TrimPrefix(y.ShortTag(), "!!")
	switch n.Tag {
	case "str", "bool", "null":
	case "timestamp":
		n.Tag = "str" // the type of the field checks the spelling
	case "int", "float":
		if err := y.Decode(&n.Num); err != nil || math.IsNaN(n.Num) || math.IsInf(n.Num, 0) {
			b.Add(n, "", "%s is not a finite number", Shorten(n.Text))
			return nil
		}
	default:
		b.Add(n, "", "tag %s is not supported in %s", y.Tag, b.Name)
		return nil
	}
	if strings.ContainsRune(n.Text, 0) {
		b.Add(n, "", "text cannot contain a NUL character")
		return nil
	}
	return n
}
