package tensor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawTensor makes a tensor of any type, shape and layout, with every byte drawn.
func drawTensor(t *rapid.T, name string) Tensor {
	a := Argument{
		Name:  name,
		DType: rapid.SampledFrom(DTypes()).Draw(t, "dtype"),
		Shape: rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape"),
	}
	if rapid.Bool().Draw(t, "strided") {
		a.Strides = rapid.SliceOfN(rapid.IntRange(0, 20), len(a.Shape), len(a.Shape)).Draw(t, "strides")
	}
	x, err := New(a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	if rapid.Bool().Draw(t, "offset") {
		x.Offset = rapid.IntRange(0, 7).Draw(t, "where")
		x.Data = append(x.Data, make([]byte, x.Offset*x.DType.Size())...)
	}
	for i := range x.Data {
		x.Data[i] = byte(31 * (i + 1))
	}
	return x
}

// Reading in pieces is reading the element of every index, found by multiplying.
func TestReadFollowsStrides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTensor(t, "x")
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
		n := x.Len()
		got := make([]float64, n)
		for at := 0; at < n; {
			piece := rapid.IntRange(1, n-at).Draw(t, "piece")
			x.Read(got[at:at+piece], at)
			at += piece
		}
		strides := x.Strides
		if len(strides) == 0 {
			strides = make([]int, len(x.Shape))
			for i, step := len(x.Shape)-1, 1; i >= 0; i-- {
				strides[i] = step
				step *= x.Shape[i]
			}
		}
		for position := range n {
			lanes := x.DType.Lanes()
			at, rest := x.Offset, position/lanes
			for i, size := range slices.Backward(x.Shape) {
				at += rest % size * strides[i]
				rest /= size
			}
			var values [2]float64
			Decode(x.DType, values[:lanes], x.Data[at*x.DType.Size():])
			want := values[position%lanes]
			if x.Place(position) != at {
				t.Fatalf("element %d stands at %d, want %d", position, x.Place(position), at)
			}
			if got[position] != want && want == want {
				t.Fatalf("element %d of %+v is %v, want %v", position, x, got[position], want)
			}
		}
	})
}

func TestWriteLeavesGapsAlone(t *testing.T) {
	x, err := New(Argument{Name: "x", DType: U8, Shape: []int{2, 3}, Strides: []int{8, 2}})
	if err != nil {
		t.Fatal(err)
	}
	x.Write(1, []float64{2, 3, 4, 5, 6})
	x.Write(0, []float64{1})
	want := []byte{1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 5, 0, 6}
	if diff := cmp.Diff(want, x.Data); diff != "" {
		t.Errorf("storage (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]byte{1, 2, 3, 4, 5, 6}, x.Elements()); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	if x.IsContiguous() {
		t.Error("a tensor with gaps is not plain")
	}
}

func TestIndex(t *testing.T) {
	x := Tensor{Shape: []int{2, 3, 4}}
	if diff := cmp.Diff([]int{1, 2, 3}, x.Index(23)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 1}, x.Index(5)); diff != "" {
		t.Error(diff)
	}
}
