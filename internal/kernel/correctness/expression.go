package correctness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// ExpressionReference computes outputs element by element from a formula of the
// suite, in float64.
type ExpressionReference struct{ Formulas []suite.Formula }

// Compute evaluates each formula over the elements of the inputs it names. They must
// have the shape of the output, or a single element.
func (e ExpressionReference) Compute(ctx context.Context, t Task, _ bool) (Expected, error) {
	var r Expected
	for _, a := range outputs(t.Arguments) {
		i := slices.IndexFunc(e.Formulas, func(f suite.Formula) bool { return f.Output == a.Name })
		if i < 0 {
			return Expected{}, fmt.Errorf("check.expression has no formula for %q", a.Name)
		}
		want, err := evaluate(ctx, e.Formulas[i].Expr, a, t)
		if err != nil {
			return Expected{}, fmt.Errorf("check.expression of %q, %s: %w", a.Name, suite.ConfigName(t.Params), err)
		}
		r.Want = append(r.Want, want)
	}
	return r, nil
}

// operand is an input that a formula reads element by element.
type operand struct {
	name   string
	tensor tensor.Tensor
	values []float64 // values of the current chunk
}

func evaluate(ctx context.Context, x *expr.Expr, a tensor.Argument, t Task) (tensor.Tensor, error) {
	want, err := tensor.New(tensor.Argument{Name: a.Name, DType: tensor.F64, Shape: a.DType.ValueShape(a.Shape)})
	if err != nil {
		return tensor.Tensor{}, err
	}
	variables := t.Params.Map()
	operands, err := bind(x, variables, want, t.Contents.Tensors)
	if err != nil {
		return tensor.Tensor{}, err
	}
	results := make([]float64, chunk)
	n := want.Len()
	for from := 0; from < n; from += chunk {
		if err := ctx.Err(); err != nil {
			return tensor.Tensor{}, context.Cause(ctx)
		}
		size := min(chunk, n-from)
		for _, o := range operands {
			o.tensor.Read(o.values[:size], from)
		}
		for i := range size {
			for _, o := range operands {
				variables[o.name] = o.values[i]
			}
			v, err := x.Eval(variables)
			if err != nil {
				return tensor.Tensor{}, err
			}
			if results[i], err = element(v); err != nil {
				return tensor.Tensor{}, err
			}
		}
		want.Write(from, results[:size])
	}
	return want, nil
}

func element(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	default:
		return 0, fmt.Errorf("expected a number, got %v", v)
	}
}

// bind resolves each variable: to an input, to a number over a whole input ("sum(a)"),
// or to a parameter, which is already in variables.
func bind(x *expr.Expr, variables map[string]any, want tensor.Tensor, inputs []tensor.Tensor) ([]operand, error) {
	var list []operand
	for _, v := range x.Variables() {
		function, of, aggregate := strings.Cut(strings.TrimSuffix(v.Name, ")"), "(")
		if !aggregate {
			of = v.Name
		}
		in := tensor.Find(inputs, of)
		switch {
		case in == nil && !aggregate:
			continue
		case in == nil:
			return nil, fmt.Errorf("%s: there is no input %q", v.Name, of)
		case aggregate:
			variables[v.Name] = reduce(function, *in)
		case in.Len() == 1:
			var one [1]float64
			in.Read(one[:], 0)
			variables[v.Name] = one[0]
		case !slices.Equal(in.ValueShape(), want.Shape):
			return nil, fmt.Errorf("input %q has shape %v, but the output has %v: their elements do not correspond", of, in.ValueShape(), want.Shape)
		default:
			list = append(list, operand{of, *in, make([]float64, chunk)})
		}
	}
	return list, nil
}

// reduce computes a number over a whole input. It sums with Neumaier's correction,
// because accuracy matters here and speed does not.
func reduce(function string, t tensor.Tensor) float64 {
	var buf [chunk]float64
	sum, lost, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	n := t.Len()
	for from := 0; from < n; from += chunk {
		size := min(chunk, n-from)
		t.Read(buf[:size], from)
		for _, x := range buf[:size] {
			next := sum + x
			if math.Abs(sum) >= math.Abs(x) {
				lost += sum - next + x
			} else {
				lost += x - next + sum
			}
			sum = next
			low, high = math.Min(low, x), math.Max(high, x)
		}
	}
	if math.IsNaN(lost) { // infinities: keep the plain sum
		lost = 0
	}
	switch function {
	case "max":
		return high
	case "min":
		return low
	case "mean":
		return (sum + lost) / float64(n)
	default:
		return sum + lost
	}
}
