package diagnose

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// MaxRuleFile is the max size of a rule file in bytes, far larger than any real one.
const MaxRuleFile = 1 << 20

// reader walks the nodes of one file and records mistakes. It continues after a mistake, to find them all.
type reader struct {
	file string
	errs RuleErrors
}

// colonHint is the hint for an expression such as a ? b : c.
const colonHint = "put text that contains a colon in quotes"

var yamlLine = lazyregexp.New(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// parse returns the root node of a file; nil if there is nothing to read.
func (r *reader) parse(data []byte) *yaml.Node {
	start := place{r.file, 1, 1}
	switch {
	case len(data) > MaxRuleFile:
		r.errs.add(start, "", "the file has more than %d bytes", MaxRuleFile)
		return nil
	case !utf8.Valid(data):
		r.errs.add(start, "", "the file is not UTF-8 text")
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		msg, hint := err.Error(), ""
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			msg = m[2]
			if line, err := strconv.Atoi(m[1]); err == nil {
				start.line = line
			}
		}
		if strings.Contains(msg, "mapping values are not allowed") {
			hint = colonHint
		}
		r.errs.add(start, hint, "not valid YAML: %s", msg)
		return nil
	}
	if len(doc.Content) == 0 {
		r.errs.add(start, "a rule has id, class, title, when, says and tests", "the file is empty")
		return nil
	}
	return doc.Content[0]
}

func (r *reader) at(n *yaml.Node) place { return place{r.file, max(n.Line, 1), max(n.Column, 1)} }

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	r.errs.add(r.at(n), hint, format, args...)
}

// mapping calls a function for each key of a mapping, and rejects unknown keys.
func (r *reader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) bool {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "", "%s must be a mapping", what)
		return false
	}
	known := make([]string, 0, len(keys))
	for k := range keys {
		known = append(known, k)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := keys[key.Value]
		switch {
		case !ok:
			hint := ""
			if near := spell.Nearest(key.Value, known); near != "" {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			r.fail(key, hint, "%s has no key %.40q", what, key.Value)
		case seen[key.Value]:
			r.fail(key, "", "%s has the key %q twice", what, key.Value)
		default:
			seen[key.Value] = true
			read(n.Content[i+1])
		}
	}
	return true
}

// list calls a function for each entry. A node that is not a list counts as one entry.
func (r *reader) list(n *yaml.Node, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		each(n)
		return
	}
	for _, item := range n.Content {
		each(item)
	}
}

// text reads a nonempty scalar.
func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = colonHint
		}
		r.fail(n, hint, "%s must be text", what)
		return ""
	}
	return strings.TrimRight(n.Value, "\n")
}

// result is the expected type of an expression.
type result uint8

const (
	condition result = iota
	amount
)

// formula reads an expression or a list of them. extra lists names that are
// allowed in addition to the quantities.
func (r *reader) formula(n *yaml.Node, what string, want result, extra ...string) formula {
	var f formula
	r.list(n, func(n *yaml.Node) {
		if e := r.expression(n, r.text(n, what), r.at(n), what, want, extra); e != nil {
			f = append(f, e)
		}
	})
	return f
}

// expression compiles an expression whose text starts at a position.
func (r *reader) expression(n *yaml.Node, text string, at place, what string, want result, extra []string) *expr.Expr {
	if text == "" {
		return nil
	}
	inside := func(pos int) place {
		moved := at
		switch {
		case strings.Contains(n.Value, "\n"), n.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0:
		case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			moved.col += pos + 1
		default:
			moved.col += pos
		}
		return moved
	}
	e, err := expr.Compile(text)
	if err != nil {
		pos, hint, msg := 0, "", err.Error()
		if x, ok := errors.AsType[*expr.Error](err); ok {
			pos, hint, msg = x.Pos, x.Hint, x.Msg
		}
		r.errs.add(inside(pos), hint, "%s: %s", what, msg)
		return nil
	}
	sample, ok := values{}, true
	for _, name := range extra {
		sample[name] = 1.0
	}
	for _, v := range e.Variables() {
		if _, there := sample[v.Name]; there {
			continue
		}
		if _, known := quantity(v.Name); !known {
			r.errs.add(inside(v.Pos), nearQuantity(v.Name), "%s: unknown quantity %q", what, v.Name)
			ok = false
		}
		sample[v.Name] = 1.0
	}
	if !ok {
		return nil
	}
	// The result type does not depend on the values.
	got, err := e.Eval(sample)
	_, number := got.(float64)
	_, yes := got.(bool)
	switch {
	case err != nil:
		r.errs.add(inside(0), "", "%s: %v", what, err)
	case want == condition && !yes:
		r.errs.add(inside(0), "compare it with a value", "%s: expected a condition, got a value", what)
	case want == amount && !number:
		r.errs.add(inside(0), "", "%s: expected a number", what)
	default:
		return e
	}
	return nil
}
