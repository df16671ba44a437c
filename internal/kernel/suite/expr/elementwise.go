package expr

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"
)

// aggregates lists the functions of a whole input. In an expression over elements, "sum(a)" is
// one number for all elements of a, so the evaluator treats it as a variable of that name.
var aggregates = []string{"sum", "mean", "max", "min"}

// pointwise holds the functions that only expressions over elements have: activations need
// them, sizes and work do not.
var pointwise = map[string]function{
	"exp":  {minArgs: 1, maxArgs: 1, one: math.Exp},
	"log":  {minArgs: 1, maxArgs: 1, one: math.Log},
	"tanh": {minArgs: 1, maxArgs: 1, one: math.Tanh},
	"erf":  {minArgs: 1, maxArgs: 1, one: math.Erf},
}

// CompileElementwise reads an expression over the elements of tensors. It may use sum(a),
// mean(a), max(a) and min(a) of a whole tensor: each is a variable with exactly that name
// ("sum(a)"), which the caller computes once. exp, log, tanh and erf are also available.
func CompileElementwise(source string) (*Expr, error) {
	return compile(source, &compiler{seen: map[string]bool{}, elementwise: true})
}

// Aggregate returns the name of the variable for a function of a whole tensor.
func Aggregate(function, tensor string) string { return fmt.Sprintf("%s(%s)", function, tensor) }

// Aggregates returns the functions of a whole tensor.
func Aggregates() []string { return aggregates }

// aggregate compiles a function of a whole tensor as a variable.
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
