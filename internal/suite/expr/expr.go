// Package expr evaluates the small expressions of a suite: the work of a config
// ("2*N*N*N"), the configs to leave out ("B*S > 100000"), metrics and, for the
// tuner, constraints.
//
// The grammar is expr-lang's; the meaning is ours and much smaller: numbers are
// float64 (a product of sizes must not overflow), text and true/false exist only
// to be compared, and there are nine functions. Everything else the grammar can
// say (lists, closures, members, pipes) is refused when the expression is compiled.
//
// The package knows nothing of files, suites or configs: it is given names and
// values, and tells the position inside the expression where something is wrong.
package expr

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"
)

// Expr is a compiled expression. It may be used by several goroutines at once.
type Expr struct {
	source    string
	variables []Variable
	eval      evaluator
	root      ast.Node // what Bind and Conjuncts compile again
}

// Variable is a name an expression uses, and where it stands first.
type Variable struct {
	Name string
	Pos  int // in characters from the start of the expression
}

// Error tells what is wrong in an expression, and where.
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

// String returns the expression as it was written.
func (e *Expr) String() string { return e.source }

// Variables lists the names the expression uses, in the order they appear.
func (e *Expr) Variables() []Variable { return e.variables }

// Eval computes the expression. Variables are numbers of any Go type, strings or
// bools; the answer is a float64, a string or a bool. An error is an *Error.
func (e *Expr) Eval(variables map[string]any) (any, error) {
	v, err := e.eval(variables)
	if err != nil {
		return nil, err
	}
	return v.any(), nil
}

// Number computes an expression whose answer has to be a finite number.
func (e *Expr) Number(variables map[string]any) (float64, error) {
	v, err := e.eval(variables)
	switch {
	case err != nil:
		return 0, err
	case v.kind != number:
		return 0, &Error{Msg: fmt.Sprintf("want a number, this gives %s", v)}
	case math.IsNaN(v.num) || math.IsInf(v.num, 0):
		return 0, &Error{Msg: "the result is not a finite number", Hint: "is something divided by zero?"}
	}
	return v.num, nil
}

// Bool computes an expression whose answer has to be true or false.
func (e *Expr) Bool(variables map[string]any) (bool, error) {
	v, err := e.eval(variables)
	switch {
	case err != nil:
		return false, err
	case v.kind != boolean:
		return false, &Error{Msg: fmt.Sprintf("want true or false, this gives %s", v), Hint: "compare it with something"}
	}
	return v.yes, nil
}
