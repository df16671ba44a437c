package correctness

import (
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// packed makes a tensor of FP4 with two values in each of its elements.
func packed(t *testing.T, values ...float64) tensor.Tensor {
	t.Helper()
	x, err := tensor.New(tensor.Argument{Name: "out", DType: tensor.E2M1x2, Shape: []int{len(values) / 2}})
	if err != nil {
		t.Fatal(err)
	}
	x.Write(0, values)
	return x
}

func TestCompare_PackedValues(t *testing.T) {
	want := []float64{0.5, 1, 2.1, -6, 0, -1.5, 3, 100}
	rules := RulesFor(suite.Tolerance{}, tensor.E2M1x2, true)
	c := Compare(Sides{Want: of(tensor.F64, want...), Got: packed(t, want...)}, rules)
	if !c.OK || c.Elements != 8 {
		t.Errorf("rounding alone: %d elements, %s", c.Elements, c.Sentence())
	}
	swapped := slices.Clone(want)
	for i := 0; i < len(want); i += 2 {
		swapped[i], swapped[i+1] = want[i+1], want[i]
	}
	if c = Compare(Sides{Want: of(tensor.F64, want...), Got: packed(t, swapped...)}, rules); c.OK {
		t.Error("values that swapped places in their bytes pass")
	}
	if c = Compare(Sides{Want: of(tensor.F64, want[:4]...), Got: packed(t, want...)}, rules); c.Failed != RuleShape {
		t.Errorf("half of the values: %s", c.Sentence())
	}
}

func TestCompare_PackedValuesNeverWritten(t *testing.T) {
	want := make([]float64, 256)
	for i := range want {
		want[i] = 1
	}
	got := packed(t, want...)
	seed := uint64(9)
	poison := tensor.Poison(seed, len(got.Data))
	got.Data[40] = poison[40]
	c := Compare(Sides{Want: of(tensor.F64, want...), Got: got, Poison: &seed}, RulesFor(suite.Tolerance{}, tensor.E2M1x2, true))
	if c.Failed != RuleUnwritten || c.Worst.Position/2 != 40 {
		t.Errorf("%q: %s", c.Failed, c.Sentence())
	}
}

// Types of less than a byte leave bits free, which poison sets: no value of a kernel is
// taken for it.
func TestCompare_SmallValuesNeverWritten(t *testing.T) {
	seed := uint64(5)
	for _, d := range []tensor.DType{tensor.E2M1, tensor.E2M3, tensor.E3M2} {
		poison := tensor.Poison(seed, 512)
		values := make([]float64, 512)
		tensor.Decode(d, values, poison)
		got := of(d, values...)
		want := of(tensor.F64, make([]float64, 512)...)
		c := Compare(Sides{Want: want, Got: got, Poison: &seed}, within(0, 0))
		if c.Unwritten != 0 || c.Failed != RuleClose {
			t.Errorf("%s: values like those of poison: %d unwritten, failed %q", d, c.Unwritten, c.Failed)
		}
		got.Data = poison
		if c = Compare(Sides{Want: want, Got: got, Poison: &seed}, within(0, 0)); c.Failed != RuleUnwritten {
			t.Errorf("%s: nothing written: failed %q", d, c.Failed)
		}
	}
}

func TestWeak_PackedValues(t *testing.T) {
	values := fill(t, tensor.Argument{Name: "x", DType: tensor.E2M1x2, Shape: []int{1000}}, Normal, 1)
	rules := RulesFor(suite.Tolerance{}, tensor.E2M1x2, false)
	for _, want := range []tensor.Tensor{of(tensor.F64, values...), packed(t, values...)} {
		if why := Weakness(want, tensor.E2M1x2, nil, rules); why != "" {
			t.Errorf("%s: %s", want.DType, why)
		}
		same := of(tensor.E2M1, values...)
		if why := Weakness(want, tensor.E2M1x2, &same, rules); !strings.Contains(why, "ignores its inputs") {
			t.Errorf("%s, the same result: %q", want.DType, why)
		}
	}
}
