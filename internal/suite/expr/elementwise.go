package expr

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"
)

// aggregates are the functions of a whole input. In an expression over elements
// "sum(a)" is one number for all elements of a, so to whoever evaluates it it is a
// variable of that name.
var aggregates = []string{"sum", "mean", "max", "min"}

// pointwise are the functions that only expressions over elements have: activations
// need them, sizes and work do not.
var pointwise = map[string]function{
	"exp":  {least: 1, most: 1, one: math.Exp},
	"log":  {least: 1, most: 1, one: math.Log},
	"tanh": {least: 1, most: 1, one: math.Tanh},
	"erf":  {least: 1, most: 1, one: math.Erf},
}

// CompileElementwise reads an expression over the elements of tensors. It may say
// sum(a), mean(a), max(a) and min(a) of a whole tensor: each is a variable with that
// very name ("sum(a)"), which the caller computes once. exp, log, tanh and erf are
// there too.
func CompileElementwise(source string) (*Expr, error) {
	return compile(source, &compiler{seen: map[string]bool{}, elementwise: true})
}

// Aggregate names the variable that stands for a function of a whole tensor.
func Aggregate(function, tensor string) string { return fmt.Sprintf("%s(%s)", function, tensor) }

// Aggregates lists the functions of a whole tensor.
func Aggregates() []string { return aggregates }

// aggregate compiles a call as a variable when it is a function of a whole tensor.
func (c *compiler) aggregate(at ast.Node, name string, args []ast.Node) (evaluator, bool) {
	if !c.elementwise || len(args) != 1 {
		return nil, false
	}
	for _, a := range aggregates {
		of, ok := args[0].(*ast.IdentifierNode)
		if a == name && ok {
			return c.named(Aggregate(name, of.Value), at.Location().From), true
		}
	}
	return nil, false
}
