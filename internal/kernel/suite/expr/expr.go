// Package expr evaluates the small expressions of a suite: the work of a config ("2*N*N*N"),
// the configs to leave out ("B*S > 100000"), metrics and, for the tuner, constraints.
//
// The grammar is expr-lang's, with a much smaller meaning of our own: numbers are float64 (a
// product of sizes must not overflow), text and true/false can only be compared, and there
// are nine functions. Compiling rejects everything else in the grammar (lists, closures,
// members, pipes).
//
// The package knows nothing of files, suites or configs. It receives names and values, and
// reports errors with their position in the expression.
package expr

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"
)

// Expr is a compiled expression. It is safe for concurrent use.
type Expr struct {
	source    string
	variables []Variable
	eval      evaluator
	root      ast.Node // source for Bind and Conjuncts
}

// Variable is a name that an expression uses, and the position of its first use.
type Variable struct {
	Name string
	Pos  int // in characters from the start of the expression
}

// Error is an error in an expression, with its position.
type Error struct {
	Pos  int // in characters from the start of the expression
	Msg  string
	Hint string
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Hint + ")"
}

// String returns the source text of the expression.
func (e *Expr) String() string { return e.source }

// Variables returns the names that the expression uses, in order of appearance.
func (e *Expr) Variables() []Variable { return e.variables }

// Eval computes the expression. Variables are numbers of any Go type, strings or bools. The
// result is a float64, a string or a bool. An error is an *Error.
func (e *Expr) Eval(variables map[string]any) (any, error) {
	v, err := e.eval(variables)
	if err != nil {
		return nil, err
	}
	return v.any(), nil
}

// Number computes an expression whose result must be a finite number.
func (e *Expr) Number(variables map[string]any) (float64, error) {
	v, err := e.eval(variables)
	switch {
	case err != nil:
		return 0, err
	case v.kind != number:
		return 0, &Error{Msg: fmt.Sprintf("expected a number, got %s", v)}
	case math.IsNaN(v.num) || math.IsInf(v.num, 0):
		return 0, &Error{Msg: "the result is not a finite number", Hint: "is something divided by zero?"}
	}
	return v.num, nil
}

// Bool computes an expression whose result must be true or false.
func (e *Expr) Bool(variables map[string]any) (bool, error) {
	v, err := e.eval(variables)
	switch {
	case err != nil:
		return false, err
	case v.kind != boolean:
		return false, &Error{Msg: fmt.Sprintf("expected true or false, got %s", v), Hint: "compare it with a value"}
	}
	return v.yes, nil
}
