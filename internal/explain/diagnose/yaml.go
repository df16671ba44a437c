package diagnose

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// MaxRuleFile is the max size of a rule file in bytes, far larger than any real one.
const MaxRuleFile = 1 << 20

// reader walks the nodes of one file and records mistakes. It continues after a mistake, to find them all.
type reader struct{ strictyaml.Walker }

func newReader(file string) *reader {
	return &reader{strictyaml.Walker{Problems: &strictyaml.Problems{}, File: file}}
}

// colonHint is the hint for an expression such as a ? b : c.
const colonHint = "put text that contains a colon in quotes"

var ruleFormat = strictyaml.Format{Name: "a rule file", MaxBytes: MaxRuleFile, Invalid: "not valid YAML", Colon: colonHint}

// parse returns the root node of a file; nil if there is nothing to read.
func (r *reader) parse(data []byte) *yaml.Node {
	start := strictyaml.Position{File: r.File, Line: 1, Col: 1}
	if len(data) > MaxRuleFile { // the caller stops reading there
		r.AddAt(start, "", "the file has more than %d bytes", MaxRuleFile)
		return nil
	}
	root, ok := r.Parse(data, ruleFormat)
	if ok && root == nil {
		r.AddAt(start, "a rule has id, class, title, when, says and tests", "the file is empty")
	}
	return root
}

// mapping calls a function for each key of a mapping, and rejects unknown keys.
func (r *reader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) bool {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "%s must be a mapping", what)
		return false
	}
	r.Keys(n, what, keys)
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
		r.Fail(n, hint, "%s must be text", what)
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
		if e := r.expression(n, r.text(n, what), r.At(n), what, want, extra); e != nil {
			f = append(f, e)
		}
	})
	return f
}

// expression compiles an expression whose text starts at a position.
func (r *reader) expression(n *yaml.Node, text string, at strictyaml.Position, what string, want result, extra []string) *expr.Expr {
	if text == "" {
		return nil
	}
	inside := func(pos int) strictyaml.Position {
		moved := at
		switch {
		case strings.Contains(n.Value, "\n"), n.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0:
		case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			moved.Col += pos + 1
		default:
			moved.Col += pos
		}
		return moved
	}
	e, err := expr.Compile(text)
	if err != nil {
		pos, hint, msg := 0, "", err.Error()
		if x, ok := errors.AsType[*expr.Error](err); ok {
			pos, hint, msg = x.Pos, x.Hint, x.Msg
		}
		r.AddAt(inside(pos), hint, "%s: %s", what, msg)
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
			r.AddAt(inside(v.Pos), nearQuantity(v.Name), "%s: unknown quantity %q", what, v.Name)
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
		r.AddAt(inside(0), "", "%s: %v", what, err)
	case want == condition && !yes:
		r.AddAt(inside(0), "compare it with a value", "%s: expected a condition, got a value", what)
	case want == amount && !number:
		r.AddAt(inside(0), "", "%s: expected a number", what)
	default:
		return e
	}
	return nil
}
