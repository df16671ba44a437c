package space

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Limits of a definition, which comes from an untrusted file.
const (
	maxParameters  = 64
	maxValues      = 4096 // per parameter
	maxConstraints = 256
)

// Parameter is one tunable setting.
type Parameter struct {
	Name string `json:"name"`
	// Values are distinct numbers, texts or booleans, of one kind. A Problem and a Space keep numbers sorted, so
	// that the index of a value is its rank.
	Values []any `json:"values"`
	// Default is the value used without tuning; nil means the first of Values.
	Default any `json:"default"`
	// When is a condition over other parameters. If it does not hold, the parameter has no
	// effect and stays at its default, so that no point occurs twice.
	When string `json:"when,omitempty"`
}

// Ordered reports whether the values have an order: numbers do, texts do not.
func (p Parameter) Ordered() bool {
	_, isText := p.Values[0].(string)
	return !isText
}

// Number returns a value as a number, if it is one.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Sorted returns values with numbers in ascending order. Other values stay in the order of the suite.
func Sorted(values []any) []any {
	values = slices.Clone(values)
	if !slices.ContainsFunc(values, func(v any) bool { _, is := Number(v); return !is }) {
		slices.SortFunc(values, func(a, b any) int {
			x, _ := Number(a)
			y, _ := Number(b)
			return cmp.Compare(x, y)
		})
	}
	return values
}

// Definition is a space as a suite declares it.
type Definition struct {
	Parameters  []Parameter
	Constraints []string // conditions that every point must meet
}

// Problem is a compiled definition that can be counted, sampled and enumerated. It is not
// safe for concurrent use, because it caches counts.
type Problem struct {
	parameters []Parameter
	defaults   []uint16
	codes      [][]float64 // of the values, by parameter
	walk       []step      // parameters in walk order
	steps      uint64      // taken by the counting so far
	stored     int         // number of cached counts
}

// Compile checks a definition and plans its walk.
func Compile(d Definition) (*Problem, error) {
	if n := len(d.Parameters); n == 0 || n > maxParameters {
		return nil, fmt.Errorf("tuning space: %d parameters (must be 1 to %d)", n, maxParameters)
	}
	if n := len(d.Constraints); n > maxConstraints {
		return nil, fmt.Errorf("tuning space: %d constraints (max %d)", n, maxConstraints)
	}
	p := &Problem{}
	layout := expr.NewLayout()
	for _, given := range d.Parameters {
		if err := p.add(layout, given); err != nil {
			return nil, fmt.Errorf("tuning space: %w", err)
		}
	}
	var conditions []condition
	for _, source := range d.Constraints {
		bound, err := bind(layout, source)
		if err != nil {
			return nil, fmt.Errorf("tuning space: constraint %q: %w", source, err)
		}
		conditions = append(conditions, bound...)
	}
	for i, q := range p.parameters {
		if q.When == "" {
			continue
		}
		c, err := p.conditional(layout, i)
		if err != nil {
			return nil, fmt.Errorf("tuning space: parameter %q: when %q: %w", q.Name, q.When, err)
		}
		conditions = append(conditions, c)
	}
	p.plan(conditions)
	return p, nil
}

func (p *Problem) add(layout *expr.Layout, given Parameter) error {
	if n := len(given.Values); n == 0 || n > maxValues {
		return fmt.Errorf("parameter %q has %d values (must be 1 to %d)", given.Name, n, maxValues)
	}
	q := given
	q.Values = slices.Clone(given.Values)
	if q.Default == nil {
		q.Default = q.Values[0]
	}
	codes, err := layout.Add(q.Name, q.Values)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(codes, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
		return fmt.Errorf("parameter %q has a value that is not a finite number", q.Name)
	}
	if q.Ordered() {
		slices.SortFunc(q.Values, func(a, b any) int { return cmp.Compare(order(a), order(b)) })
		slices.Sort(codes)
	}
	index := -1
	for i, v := range q.Values {
		if slices.Contains(codes[:i], codes[i]) {
			return fmt.Errorf("parameter %q has the value %v twice", q.Name, v)
		}
		if Same(v, q.Default) {
			index = i
		}
	}
	if index < 0 {
		return fmt.Errorf("parameter %q: the default %v is not among its values %v", q.Name, q.Default, q.Values)
	}
	p.parameters = append(p.parameters, q)
	p.defaults = append(p.defaults, uint16(index))
	p.codes = append(p.codes, codes)
	return nil
}

func order(v any) float64 {
	if yes, ok := v.(bool); ok && yes {
		return 1
	}
	x, _ := Number(v)
	return x
}

// Same reports whether two values are equal. Numbers of different types may be.
func Same(a, b any) bool {
	x, isNumber := Number(a)
	y, alsoNumber := Number(b)
	if isNumber && alsoNumber {
		return x == y
	}
	return a == b
}

// condition is a part of a constraint that can be checked on its own.
type condition struct {
	slots []int
	holds func(values []float64) bool
}

func bind(layout *expr.Layout, source string) ([]condition, error) {
	e, err := expr.Compile(source)
	if err != nil {
		return nil, err
	}
	var list []condition
	for _, part := range e.Conjuncts() {
		b, err := part.Bind(layout)
		if err != nil {
			return nil, err
		}
		list = append(list, condition{slots: b.Slots(), holds: b.Holds})
	}
	return list, nil
}

// conditional turns a When into a constraint: it holds, or the parameter is at its default.
func (p *Problem) conditional(layout *expr.Layout, i int) (condition, error) {
	e, err := expr.Compile(p.parameters[i].When)
	if err != nil {
		return condition{}, err
	}
	b, err := e.Bind(layout)
	if err != nil {
		return condition{}, err
	}
	if slices.Contains(b.Slots(), i) {
		return condition{}, errors.New("a parameter cannot depend on itself")
	}
	usual := p.codes[i][p.defaults[i]]
	slots := append(slices.Clone(b.Slots()), i)
	slices.Sort(slots)
	return condition{slots: slots, holds: func(v []float64) bool { return v[i] == usual || b.Holds(v) }}, nil
}
