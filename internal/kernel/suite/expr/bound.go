package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Bound is an expression compiled for a layout. It has the same meaning as Expr, but binding
// has resolved all names, kinds and errors. It is safe for concurrent use.
type Bound struct {
	slots []int
	eval  compute
}

type compute func(slots []float64) float64

// Bind compiles a condition for a layout. It checks kinds in the whole expression, even in a
// branch that no value reaches. An error is an *Error.
func (e *Expr) Bind(l *Layout) (*Bound, error) {
	b := binder{layout: l}
	f, k := b.bind(e.root)
	switch {
	case b.err != nil:
		return nil, b.err
	case k != boolean:
		return nil, &Error{Msg: fmt.Sprintf("expected true or false, got %s", k), Hint: "compare it with a value"}
	}
	slices.Sort(b.used)
	return &Bound{slots: slices.Compact(b.used), eval: f}, nil
}

// Slots returns the slots that the condition reads, in order.
func (b *Bound) Slots() []int { return b.slots }

// Holds reports whether the condition is true for the values in the slots.
func (b *Bound) Holds(slots []float64) bool { return b.eval(slots) != 0 }

// Conjuncts splits an expression at its outer ands. A search can then evaluate each part as soon
// as its own variables are known.
func (e *Expr) Conjuncts() []*Expr {
	var parts []*Expr
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "&&" || b.Operator == "and") {
			walk(b.Left)
			walk(b.Right)
			return
		}
		c := &compiler{seen: map[string]bool{}}
		eval := c.compile(n)
		parts = append(parts, &Expr{source: n.String(), variables: c.variables, eval: eval, root: n})
	}
	walk(e.root)
	return parts
}

// binder compiles nodes to closures over slots. It keeps the first error.
type binder struct {
	layout *Layout
	used   []int
	err    *Error
}

func (b *binder) fail(at ast.Node, format string, args ...any) (compute, kind) {
	if b.err == nil {
		b.err = &Error{Pos: at.Location().From, Msg: fmt.Sprintf(format, args...)}
	}
	return func([]float64) float64 { return 0 }, number
}

func (b *binder) bind(n ast.Node) (compute, kind) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return b.constant(ofNumber(float64(n.Value)))
	case *ast.FloatNode:
		return b.constant(ofNumber(n.Value))
	case *ast.StringNode:
		return b.constant(ofText(n.Value))
	case *ast.BoolNode:
		return b.constant(ofBool(n.Value))
	case *ast.IdentifierNode:
		s, ok := b.layout.slots[n.Value]
		if !ok {
			return b.fail(n, "unknown variable %q", n.Value)
		}
		b.used = append(b.used, s.index)
		index := s.index
		return func(v []float64) float64 { return v[index] }, s.kind
	case *ast.UnaryNode:
		return b.unary(n)
	case *ast.BinaryNode:
		return b.binary(n)
	case *ast.ConditionalNode:
		return b.conditional(n)
	case *ast.CallNode:
		return b.call(n)
	}
	return b.fail(n, "this is not allowed in a condition over parameters")
}

func (b *binder) constant(v value) (compute, kind) {
	c := b.layout.code(v)
	return func([]float64) float64 { return c }, v.kind
}

// of binds a node that must be of kind k.
func (b *binder) of(k kind, n ast.Node, operator string) compute {
	f, got := b.bind(n)
	if got != k {
		b.fail(n, "%s expects %s, got %s", operator, k, got)
	}
	return f
}

func (b *binder) unary(n *ast.UnaryNode) (compute, kind) {
	switch n.Operator {
	case "-":
		f := b.of(number, n.Node, "-")
		return func(v []float64) float64 { return -f(v) }, number
	case "+":
		return b.of(number, n.Node, "+"), number
	default: // not: Compile accepts no other
		f := b.of(boolean, n.Node, n.Operator)
		return func(v []float64) float64 { return truth(f(v) == 0) }, boolean
	}
}

func (b *binder) binary(n *ast.BinaryNode) (compute, kind) {
	switch n.Operator {
	case "&&", "and":
		l, r := b.of(boolean, n.Left, n.Operator), b.of(boolean, n.Right, n.Operator)
		return func(v []float64) float64 { return truth(l(v) != 0 && r(v) != 0) }, boolean
	case "||", "or":
		l, r := b.of(boolean, n.Left, n.Operator), b.of(boolean, n.Right, n.Operator)
		return func(v []float64) float64 { return truth(l(v) != 0 || r(v) != 0) }, boolean
	case "==", "!=":
		return b.equality(n)
	}
	l, r := b.of(number, n.Left, n.Operator), b.of(number, n.Right, n.Operator)
	if n.Operator == "%" {
		return func(v []float64) float64 { return remainder(l(v), r(v)) }, number
	}
	if f, ok := arithmetic[n.Operator]; ok {
		return func(v []float64) float64 { return f(l(v), r(v)) }, number
	}
	f := ordering[n.Operator]
	return func(v []float64) float64 { return truth(f(l(v), r(v))) }, boolean
}

// remainder is math.Mod, with a fast path for the whole numbers that constraints usually
// contain.
func remainder(a, b float64) float64 {
	const most = 1 << 53
	if math.Abs(a) < most && math.Abs(b) < most {
		if x, y := int64(a), int64(b); float64(x) == a && float64(y) == b && y != 0 {
			return float64(x % y)
		}
	}
	return math.Mod(a, b)
}

func (b *binder) equality(n *ast.BinaryNode) (compute, kind) {
	l, lk := b.bind(n.Left)
	r, rk := b.bind(n.Right)
	if lk != rk {
		return b.fail(n, "%s cannot compare %s with %s", n.Operator, lk, rk)
	}
	equal := n.Operator == "=="
	return func(v []float64) float64 { return truth((l(v) == r(v)) == equal) }, boolean
}

func (b *binder) conditional(n *ast.ConditionalNode) (compute, kind) {
	cond := b.of(boolean, n.Cond, "?")
	yes, k := b.bind(n.Exp1)
	no, other := b.bind(n.Exp2)
	if k != other {
		return b.fail(n, "the two results of ? have different types: %s and %s", k, other)
	}
	return func(v []float64) float64 {
		if cond(v) != 0 {
			return yes(v)
		}
		return no(v)
	}, k
}

func (b *binder) call(n *ast.CallNode) (compute, kind) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return b.fail(n, "only a function can be called")
	}
	if callee.Value == sizeofName {
		return b.sizeof(n)
	}
	f, ok := functions[callee.Value]
	if !ok {
		return b.fail(n, "%s is not allowed in a condition over parameters", callee.Value)
	}
	args := make([]compute, len(n.Arguments))
	for i, a := range n.Arguments {
		args[i] = b.of(number, a, callee.Value)
	}
	if len(args) == 1 {
		return func(v []float64) float64 { return f.one(args[0](v)) }, number
	}
	return func(v []float64) float64 {
		result := args[0](v)
		for _, arg := range args[1:] {
			result = f.two(result, arg(v))
		}
		return result
	}, number
}

// sizeof looks up every possible text once, so that none fails later.
func (b *binder) sizeof(n *ast.CallNode) (compute, kind) {
	var texts []string
	switch arg := n.Arguments[0].(type) {
	case *ast.StringNode:
		texts = []string{arg.Value}
	case *ast.IdentifierNode:
		texts = b.layout.slots[arg.Value].texts
	default:
		return b.fail(arg, "%s expects a type, or a parameter that names one", sizeofName)
	}
	f := b.of(text, n.Arguments[0], sizeofName)
	sizes := map[float64]float64{}
	for _, t := range texts {
		size, problem := sizeof(t)
		if problem != nil {
			return b.fail(n.Arguments[0], "%s", problem.Msg)
		}
		sizes[b.layout.code(ofText(t))] = size
	}
	return func(v []float64) float64 { return sizes[f(v)] }, number
}
