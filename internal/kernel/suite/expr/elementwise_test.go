package expr

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// A function of a whole tensor is one variable; whatever else has one argument is
// computed element by element.
func TestElementwise(t *testing.T) {
	variables := map[string]any{"x": 2.0, "y": -1.0, "N": 4.0, "sum(x)": 10.0, "max(x)": 7.0, "min(x)": -7.0, "mean(x)": 2.5}
	for source, want := range map[string]float64{
		"3 * x + y":           5,
		"x / sum(x)":          0.2,
		"max(x) - min(x)":     14,
		"max(x, 0) + mean(x)": 4.5,
		"max(y, 0)":           0,
		"exp(log(x))":         2,
		"tanh(y) + erf(y)":    math.Tanh(-1) + math.Erf(-1),
		"x > 0 ? N : sqrt(x)": 4,
		"abs(y) * sum(x)":     10,
	} {
		e, err := CompileElementwise(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.Number(variables); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, %v; want %v", source, got, err, want)
		}
	}
	e, err := CompileElementwise("sum(x) + max(x) * x")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range e.Variables() {
		names = append(names, v.Name)
	}
	if want := []string{Aggregate("sum", "x"), "max(x)", "x"}; !slices.Equal(names, want) {
		t.Errorf("it uses %v, want %v", names, want)
	}
}

func TestElementwiseMistakes(t *testing.T) {
	for source, pos := range map[string]int{"1 + sum(x + 1)": 4, "mean(x, y)": 0, "sum()": 0, "2 * exp(x, y)": 4, "count(x)": 0} {
		_, err := CompileElementwise(source)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Pos > pos+5 {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := CompileElementwise("sum(x + 1)"); err == nil || err.Error() != "sum applies to a whole input: its argument must be the name of an input" {
		t.Error(err)
	}
	for _, source := range []string{"sum(x)", "mean(x)", "exp(x)"} { // sizes and work have none of these
		if _, err := Compile(source); err == nil {
			t.Errorf("%s is an expression over parameters", source)
		}
	}
}
