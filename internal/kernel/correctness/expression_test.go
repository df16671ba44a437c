package correctness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

func TestExpression(t *testing.T) {
	x, y, one := of(tensor.F16, 1, -2, 3, 0.5), of(tensor.I32, 4, 3, 2, 1), of(tensor.F32, 10)
	x.Name, y.Name, one.Name = "x", "y", "alpha"
	column := of(tensor.F32, 1, 2, 3, 4)
	column.Name, column.Shape = "column", []int{4, 1}
	for _, tt := range []struct {
		source string
		want   []float64
		err    string
	}{
		{source: "alpha * x + y", want: []float64{14, -17, 32, 6}},
		{source: "x + S", want: []float64{8, 5, 10, 7.5}},
		{source: "x - sum(x)", want: []float64{-1.5, -4.5, 0.5, -2}},
		{source: "max(x) + min(y) + 0 * x", want: []float64{4, 4, 4, 4}},
		{source: "mean(y) * y", want: []float64{10, 7.5, 5, 2.5}},
		{source: "max(x, 0)", want: []float64{1, 0, 3, 0.5}},
		{source: "x > 0 ? x : 0", want: []float64{1, 0, 3, 0.5}},
		{source: "x > 0", want: []float64{1, 0, 1, 1}},
		{source: "x / 0", want: []float64{inf, -inf, inf, inf}},
		{source: "7", want: []float64{7, 7, 7, 7}},
		{source: "x + column", err: "has shape [4 1], but the output has [4]"},
		{source: "x + z", err: `unknown variable "z"`},
		{source: "x + sum(z)", err: `there is no input "z"`},
		{source: "'text'", err: "expected a number"},
	} {
		task := Task{
			Params:    suite.Params{{Name: "S", Value: 7.0}},
			Arguments: []tensor.Argument{{Name: "out", Role: tensor.Out, DType: tensor.F16, Shape: []int{4}}},
			Contents:  NewContents([]tensor.Tensor{x, y, one, column}, ""),
		}
		r, err := ExpressionReference{[]suite.Formula{formula(t, "out", tt.source)}}.Compute(t.Context(), task, false)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", tt.source, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.source, err)
			continue
		}
		got := make([]float64, 4)
		r.Want[0].Read(got, 0)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" || r.Want[0].DType != tensor.F64 {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}

// A million times 0.1 is off by 1e-6 when it is summed plainly.
func TestSumsAreCorrected(t *testing.T) {
	values := make([]float64, 1_000_001)
	for i := range values {
		values[i] = 0.1
	}
	values[0] = 1e12
	if got := reduce("sum", of(tensor.F64, values...)); got != 1e12+100000 {
		t.Errorf("off by %v", got-1e12-100000)
	}
	if got := reduce("sum", of(tensor.F32, inf, 1)); got != inf {
		t.Errorf("with infinity: %v", got)
	}
}

func BenchmarkExpression(b *testing.B) {
	const n = 1 << 18
	p := suite.Params{{Name: "S", Value: float64(n)}}
	arguments, _ := scaled(p)
	inputs, err := Inputs(arguments, Normal, 1)
	if err != nil {
		b.Fatal(err)
	}
	task := Task{Params: p, Arguments: arguments, Contents: NewContents(inputs, "")}
	b.SetBytes(4 * n)
	for b.Loop() {
		if _, err := reference(b).Compute(b.Context(), task, false); err != nil {
			b.Fatal(err)
		}
	}
}
