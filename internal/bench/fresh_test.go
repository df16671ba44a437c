package bench

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/internal/trial"
)

// No two runs have the same to work on, and whole numbers stay what they are.
func TestFreshInputs(t *testing.T) {
	c := trial.Case{Arguments: []tensor.Argument{
		{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{1000}},
		{Name: "i", Role: tensor.In, DType: tensor.I32, Shape: []int{50}},
		{Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{1000}},
	}}
	fresh, err := freshInputs(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	draw := func(seed uint64) (x, i []byte) {
		path := filepath.Join(t.TempDir(), "in.safetensors")
		if err := fresh(seed, path); err != nil {
			t.Fatal(err)
		}
		list, err := tensor.Load(path, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return named(list, "x").Data, named(list, "i").Data
	}
	x, i := draw(7)
	again, _ := draw(7)
	other, same := draw(8)
	if diff := cmp.Diff(x, again); diff != "" {
		t.Errorf("one seed gives two contents:\n%s", diff)
	}
	changed := 0
	for k := range x {
		if x[k] != other[k] {
			changed++
		}
	}
	if changed == 0 || changed > 4*2*freshElements {
		t.Errorf("%d bytes of x are others", changed)
	}
	if diff := cmp.Diff(i, same); diff != "" {
		t.Errorf("indices changed:\n%s", diff)
	}
}

func named(list []tensor.Tensor, name string) *tensor.Tensor {
	i := slices.IndexFunc(list, func(t tensor.Tensor) bool { return t.Name == name })
	return &list[i]
}
