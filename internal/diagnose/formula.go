package diagnose

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/suite/expr"
)

// values are the quantities of a launch as expressions take them.
type values map[string]any

// formula is an expression over quantities, or several: one for each way in which a
// tool may have measured the same thing.
type formula []*expr.Expr

func (f formula) String() string {
	parts := make([]string, len(f))
	for i, e := range f {
		parts[i] = e.String()
	}
	return strings.Join(parts, " or else ")
}

// holds tells whether any of the expressions is true. One that needs a quantity which
// was not measured is not true; decided is false where that goes for all of them.
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

// applies is holds for a condition that may be left out.
func (f formula) applies(v values) bool {
	if len(f) == 0 {
		return true
	}
	yes, _ := f.holds(v)
	return yes
}

// number is the first of the expressions that can be computed.
func (f formula) number(v values) (float64, bool) {
	for _, e := range f {
		if x, err := e.Number(v); err == nil {
			return x, true
		}
	}
	return 0, false
}
