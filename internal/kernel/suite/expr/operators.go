package expr

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"
)

// want passes a value of kind k through. For any other kind, it returns an error that names the operator.
func want(k kind, at ast.Node, operator string) func(value, error) (value, error) {
	return func(v value, err error) (value, error) {
		if err == nil && v.kind != k {
			err = &Error{Pos: at.Location().From, Msg: fmt.Sprintf("%s expects %s, got %s", operator, k, v)}
		}
		return v, err
	}
}

func (c *compiler) unary(n *ast.UnaryNode) evaluator {
	operand := c.compile(n.Node)
	switch n.Operator {
	case "-":
		number := want(number, n.Node, "-")
		return func(vars map[string]any) (value, error) {
			v, err := number(operand(vars))
			v.num = -v.num
			return v, err
		}
	case "+":
		number := want(number, n.Node, "+")
		return func(vars map[string]any) (value, error) { return number(operand(vars)) }
	case "!", "not":
		boolean := want(boolean, n.Node, n.Operator)
		return func(vars map[string]any) (value, error) {
			v, err := boolean(operand(vars))
			v.yes = !v.yes
			return v, err
		}
	}
	return c.fail(n, "", "operator %q is not supported in expressions", n.Operator)
}

var arithmetic = map[string]func(a, b float64) float64{
	"+":  func(a, b float64) float64 { return a + b },
	"-":  func(a, b float64) float64 { return a - b },
	"*":  func(a, b float64) float64 { return a * b },
	"/":  func(a, b float64) float64 { return a / b },
	"%":  math.Mod,
	"**": math.Pow,
}

var ordering = map[string]func(a, b float64) bool{
	"<":  func(a, b float64) bool { return a < b },
	"<=": func(a, b float64) bool { return a <= b },
	">":  func(a, b float64) bool { return a > b },
	">=": func(a, b float64) bool { return a >= b },
}

func (c *compiler) binary(n *ast.BinaryNode) evaluator {
	left, right := c.compile(n.Left), c.compile(n.Right)
	wantLeft, wantRight := want(number, n.Left, n.Operator), want(number, n.Right, n.Operator)
	numbers := func(vars map[string]any) (a, b float64, err error) {
		l, err := wantLeft(left(vars))
		if err != nil {
			return 0, 0, err
		}
		r, err := wantRight(right(vars))
		return l.num, r.num, err
	}
	if f, ok := arithmetic[n.Operator]; ok {
		return func(vars map[string]any) (value, error) {
			a, b, err := numbers(vars)
			return ofNumber(f(a, b)), err
		}
	}
	if f, ok := ordering[n.Operator]; ok {
		return func(vars map[string]any) (value, error) {
			a, b, err := numbers(vars)
			return ofBool(f(a, b)), err
		}
	}
	switch n.Operator {
	case "&&", "and":
		return logical(n, left, right, false)
	case "||", "or":
		return logical(n, left, right, true)
	case "==":
		return equality(n, left, right, true)
	case "!=":
		return equality(n, left, right, false)
	case "^":
		return c.fail(n, "write ** for a power", "operator \"^\" is not supported in expressions")
	}
	return c.fail(n, "", "operator %q is not supported in expressions", n.Operator)
}

// logical evaluates its right side only if the left side does not decide.
func logical(n *ast.BinaryNode, left, right evaluator, decides bool) evaluator {
	wantLeft, wantRight := want(boolean, n.Left, n.Operator), want(boolean, n.Right, n.Operator)
	return func(vars map[string]any) (value, error) {
		l, err := wantLeft(left(vars))
		if err != nil || l.yes == decides {
			return l, err
		}
		return wantRight(right(vars))
	}
}

// equality rejects operands of different kinds: B == "16" is never true, and always a mistake.
func equality(n *ast.BinaryNode, left, right evaluator, equal bool) evaluator {
	pos := n.Location().From
	return func(vars map[string]any) (value, error) {
		l, err := left(vars)
		if err != nil {
			return value{}, err
		}
		r, err := right(vars)
		if err != nil {
			return value{}, err
		}
		if l.kind != r.kind {
			return value{}, &Error{Pos: pos, Msg: fmt.Sprintf("%s cannot compare %s with %s", n.Operator, l, r)}
		}
		return ofBool((l == r) == equal), nil
	}
}

func (c *compiler) call(n *ast.CallNode) evaluator {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.fail(n, "", "only a function can be called")
	}
	name := callee.Value
	if eval, ok := c.aggregate(n, name, n.Arguments); ok {
		return eval
	}
	f, ok := withSizeof()[name]
	if c.elementwise && !ok {
		f, ok = pointwise[name]
	}
	if !ok {
		return c.unknownFunction(callee, name)
	}
	if got := len(n.Arguments); got < f.minArgs || got > f.maxArgs {
		return c.fail(callee, "", "%s takes %s, not %d", name, arguments(f), got)
	}
	args := make([]evaluator, len(n.Arguments))
	wants := make([]func(value, error) (value, error), len(n.Arguments))
	for i, a := range n.Arguments {
		args[i], wants[i] = c.compile(a), want(number, a, name)
	}
	if name == sizeofName {
		return callSizeof(n, args[0])
	}
	return func(vars map[string]any) (value, error) {
		var result value
		for i, arg := range args {
			v, err := wants[i](arg(vars))
			switch {
			case err != nil:
				return value{}, err
			case i > 0:
				result = ofNumber(f.two(result.num, v.num))
			case len(args) == 1:
				result = ofNumber(f.one(v.num))
			default:
				result = v
			}
		}
		return result, nil
	}
}

func callSizeof(n *ast.CallNode, arg evaluator) evaluator {
	text := want(text, n.Arguments[0], sizeofName)
	return func(vars map[string]any) (value, error) {
		v, err := text(arg(vars))
		if err != nil {
			return value{}, err
		}
		size, problem := sizeof(v.text)
		if problem != nil {
			problem.Pos = n.Arguments[0].Location().From
			return value{}, problem
		}
		return ofNumber(size), nil
	}
}

func arguments(f function) string {
	switch {
	case f.maxArgs == 1:
		return "1 argument"
	case f.minArgs == f.maxArgs:
		return fmt.Sprintf("%d arguments", f.minArgs)
	}
	return fmt.Sprintf("%d to %d arguments", f.minArgs, f.maxArgs)
}
