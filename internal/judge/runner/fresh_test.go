package runner

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

var fresh = trial.Case{Arguments: []tensor.Argument{
	{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{1000}},
	{Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{1000}},
}}

// A seed always gives the same contents, and another seed other elements everywhere.
func TestFreshInputs(t *testing.T) {
	draw := func(seed uint64) []float64 {
		list, err := freshInputs(fresh, seed)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, 1000)
		list[0].Read(values, 0)
		return values
	}
	x, again, other := draw(7), draw(7), draw(8)
	if diff := cmp.Diff(x, again); diff != "" {
		t.Errorf("one seed gives two contents:\n%s", diff)
	}
	same := 0
	for i := range x {
		if x[i] == other[i] {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 1000 elements are the same under another seed", same)
	}
}

// Every element of every run is in the sums, and NaN is counted.
func TestAddSums(t *testing.T) {
	const runs = 5
	sums := func(change func(run int, y []float64)) []float64 {
		total := make([]float64, harness.SumBlocks*harness.BlockSums)
		for n := range runs {
			y, err := correctness.Fill(fresh.Arguments[1], correctness.Normal, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			values := make([]float64, 1000)
			y.Read(values, 0)
			change(n, values)
			y.Write(0, values)
			if err := addSums(fresh, total, []tensor.Tensor{y}, n, runs, 9); err != nil {
				t.Fatal(err)
			}
		}
		return total
	}
	want := sums(func(int, []float64) {})
	count := 0.0
	for i := 3; i < len(want); i += harness.BlockSums {
		count += want[i]
	}
	if count != runs*1000 {
		t.Errorf("%v elements are in the sums, want %d", count, runs*1000)
	}
	for _, at := range []int{0, 63, 64, 999} {
		for run := range runs {
			if got := sums(func(n int, y []float64) {
				if n == run {
					y[at] += 0.1
				}
			}); slices.Equal(got, want) {
				t.Errorf("element %d of run %d changes no sum", at, run)
			}
		}
	}
	if got := sums(func(n int, y []float64) {
		if n == 1 {
			y[5] = math.NaN()
		}
	}); got[6*harness.BlockSums+2] != 1 {
		t.Errorf("NaN in block 6 is counted %v times", got[6*harness.BlockSums+2])
	}
	if err := addSums(fresh, want, nil, 0, 1, 9); err == nil {
		t.Error("a missing output is no error")
	}
}
