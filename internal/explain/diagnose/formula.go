package diagnose

import "github.com/goatnote-inc/pawl/internal/kernel/suite/expr"

// values are the quantities of a launch, as input of expressions.
type values map[string]any

// formula is one or more expressions over quantities: one for each way in which a
// tool may have measured the same thing.
type formula []*expr.Expr

// holds reports whether any of the expressions is true. An expression with an unmeasured quantity
// is not true; decided is false if that applies to all of them.
func (f formula) holds(v values) (yes, decided bool) {
	for _, e := range f {
		b, err := e.Bool(v)
		if err != nil {
			continue
		}
		if b {
			return true, true
		}
		decided = true
	}
	return false, decided
}

// applies is holds for an optional condition.
func (f formula) applies(v values) bool {
	if len(f) == 0 {
		return true
	}
	yes, _ := f.holds(v)
	return yes
}

// number returns the value of the first expression that can be computed.
func (f formula) number(v values) (float64, bool) {
	for _, e := range f {
		if x, err := e.Number(v); err == nil {
			return x, true
		}
	}
	return 0, false
}
