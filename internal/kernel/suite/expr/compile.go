package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/spell"
)

const (
	maxLength = 4096 // characters of an expression
	maxNodes  = 1000
)

// Compile reads an expression. It checks the grammar and the functions. The caller must check
// that the variables exist. An error is an *Error.
func Compile(source string) (*Expr, error) {
	return compile(source, &compiler{seen: map[string]bool{}})
}

func compile(source string, c *compiler) (*Expr, error) {
	if strings.TrimSpace(source) == "" {
		return nil, &Error{Msg: "the expression is empty"}
	}
	if n := utf8.RuneCountInString(source); n > maxLength {
		return nil, &Error{Msg: fmt.Sprintf("the expression has %d characters, the limit is %d", n, maxLength)}
	}
	if at := comment(source); at >= 0 {
		return nil, &Error{Pos: at, Msg: "expressions cannot contain comments", Hint: "for integer division write floor(a / b)"}
	}
	root, err := parse(source)
	if err != nil {
		return nil, err
	}
	eval := c.compile(root)
	if c.err != nil {
		return nil, c.err
	}
	return &Expr{source: source, variables: c.variables, eval: eval, root: root}, nil
}

// comment returns the position of the first comment, or -1. The parser would skip comments:
// "a // b", which divides in Python, would silently mean a.
func comment(source string) int {
	var quote, before rune
	escaped, at := false, 0
	for _, r := range source {
		switch {
		case quote != 0 && escaped:
			escaped = false
		case quote != 0:
			escaped = r == '\\' && quote != '`'
			if r == quote {
				quote = 0
			}
		case strings.ContainsRune("'\"`", r):
			quote = r
		case before == '/' && (r == '/' || r == '*'):
			return at - 1
		}
		before = r
		at++
	}
	return -1
}

// parse runs the parser with every builtin disabled, so that every function call is a plain
// call, which our own table resolves.
func parse(source string) (node ast.Node, err error) {
	// The parser is third-party code, and an expression may be untrusted.
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, &Error{Msg: fmt.Sprintf("cannot parse the expression: %v", r)}
		}
	}()
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	config.DisableIfOperator = true
	for _, name := range builtin.Names {
		config.Disabled[name] = true
	}
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, explain(source, err)
	}
	if tree.Node == nil {
		return nil, &Error{Msg: "cannot parse the expression"}
	}
	return tree.Node, nil
}

var (
	unexpectedToken = lazyregexp.New(`^unexpected token \w+\((".*")\)$`)
	longDigits      = lazyregexp.New(`[0-9_]{19,}`)
)

// explain rewords a parser error without parser terms such as token.
func explain(source string, err error) error {
	cause, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &Error{Msg: "cannot parse the expression: " + err.Error()}
	}
	out := &Error{Pos: min(cause.From, utf8.RuneCountInString(source)), Msg: cause.Message}
	switch m := unexpectedToken.FindStringSubmatch(cause.Message); {
	case m != nil && m[1] == `"="`:
		out.Msg, out.Hint = `unexpected "="`, "== compares"
	case m != nil:
		out.Msg = "unexpected " + m[1]
	case cause.Message == "unexpected token EOF", cause.Message == "unexpected end of expression":
		out.Pos, out.Msg = utf8.RuneCountInString(source), "the expression ends too early"
	case strings.HasPrefix(cause.Message, "invalid integer literal"):
		out.Pos, out.Msg, out.Hint = longNumber(source), "the number is too large", "write it like 1e20"
	case strings.Contains(cause.Message, "maximum allowed nodes"):
		out.Pos, out.Msg = 0, "the expression is too long"
	}
	return out
}

// longNumber returns the position of the number that does not fit; the parser names the token after it.
func longNumber(source string) int {
	at := longDigits.FindStringIndex(source)
	if at == nil {
		return 0
	}
	return utf8.RuneCountInString(source[:at[0]])
}

// compiler turns the parser's tree into closures. It keeps the first error.
type compiler struct {
	variables []Variable
	seen      map[string]bool
	err       *Error

	elementwise bool // over the elements of tensors: see CompileElementwise
}

func (c *compiler) fail(at ast.Node, hint, format string, args ...any) evaluator {
	if c.err == nil {
		c.err = &Error{Pos: at.Location().From, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	return nil
}

func (c *compiler) compile(n ast.Node) evaluator {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(ofNumber(float64(n.Value)))
	case *ast.FloatNode:
		return constant(ofNumber(n.Value))
	case *ast.StringNode:
		return constant(ofText(n.Value))
	case *ast.BoolNode:
		return constant(ofBool(n.Value))
	case *ast.IdentifierNode:
		return c.variable(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode: // the parser's closures (sum, count, map, ...) cannot be disabled
		if eval, ok := c.aggregate(n, n.Name, n.Arguments); ok {
			return eval
		}
		return c.unknownFunction(n, n.Name)
	case *ast.ChainNode, *ast.MemberNode, *ast.SliceNode:
		return c.fail(n, "a variable is a plain name", "values have no members")
	case *ast.ArrayNode, *ast.MapNode:
		return c.fail(n, "", "lists and maps are not supported in expressions")
	default:
		return c.fail(n, "", "this is not supported in expressions")
	}
}

func constant(v value) evaluator {
	return func(map[string]any) (value, error) { return v, nil }
}

func (c *compiler) variable(n *ast.IdentifierNode) evaluator {
	return c.named(n.Value, n.Location().From)
}

func (c *compiler) named(name string, pos int) evaluator {
	if !c.seen[name] {
		c.seen[name] = true
		c.variables = append(c.variables, Variable{Name: name, Pos: pos})
	}
	return func(variables map[string]any) (value, error) {
		x, ok := variables[name]
		if !ok {
			return value{}, &Error{Pos: pos, Msg: fmt.Sprintf("unknown variable %q", name)}
		}
		v, ok := valueOf(x)
		if !ok {
			return value{}, &Error{Pos: pos, Msg: fmt.Sprintf("variable %q must be a number, text, true or false", name)}
		}
		return v, nil
	}
}

func (c *compiler) conditional(n *ast.ConditionalNode) evaluator {
	cond, yes, no := c.compile(n.Cond), c.compile(n.Exp1), c.compile(n.Exp2)
	boolean := want(boolean, n.Cond, "?")
	return func(variables map[string]any) (value, error) {
		v, err := boolean(cond(variables))
		if err != nil {
			return value{}, err
		}
		if v.yes {
			return yes(variables)
		}
		return no(variables)
	}
}

func (c *compiler) unknownFunction(at ast.Node, name string) evaluator {
	if c.elementwise && slices.Contains(aggregates, name) {
		return c.fail(at, "", "%s applies to a whole input: its argument must be the name of an input", name)
	}
	hint := "known: " + strings.Join(Functions(), ", ")
	if near := spell.Nearest(name, Functions()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return c.fail(at, hint, "unknown function %q", name)
}
