package correctness

import (
	"math"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// sampled bounds the elements that the search for weak tests checks.
const sampled = 1 << 16

// Weakness returns why a correct result would not catch a wrong kernel: a constant output
// passes, or the result for other inputs does. Other is such a result, in the type of
// the output's values and of the same shape, or nil. It returns "" for a test that can fail.
func Weakness(want tensor.Tensor, d tensor.DType, other *tensor.Tensor, r Rules) string {
	d = d.Lane()
	// The naive computation belongs to a whole result. The other rules also work on a
	// sample of it.
	r.Flash = nil
	if r.Close == nil {
		c := closeOf(d)
		c.Scaled = true
		r.Close = c
	}
	if want.Len() < 2 {
		return ""
	}
	want = thin(want)
	if other != nil {
		if t := thin(*other); Compare(Sides{Want: want, Got: t}, r).OK {
			return "other inputs give the same result within the tolerance: a kernel that ignores its inputs would pass"
		}
	}
	constant := tensor.Tensor{
		Name: want.Name, DType: d, Shape: want.ValueShape(), Strides: make([]int, len(want.ValueShape())), // one value for all elements
		Data: make([]byte, d.Size()),
	}
	tensor.Encode(d, constant.Data, []float64{mean(want)})
	if Compare(Sides{Want: want, Got: constant}, r).OK {
		return "the correct result is nearly constant: a kernel that writes one value everywhere would pass"
	}
	return ""
}

// thin selects every k-th element, at most sampled elements in all. The view needs
// contiguous elements, as references write them. Other tensors are returned whole.
func thin(t tensor.Tensor) tensor.Tensor {
	n, lanes := t.Len(), t.DType.Lanes()
	if !t.IsContiguous() {
		return t
	}
	if lanes > 1 { // strides cannot skip a part of an element
		t.Shape, t.Strides = []int{n / lanes}, nil
		return t
	}
	k := max(1, (n+sampled-1)/sampled)
	if k > 1 {
		k |= 1 // an even step would see only some columns of most shapes
	}
	t.Shape, t.Strides = []int{(n + k - 1) / k}, []int{k}
	return t
}

func mean(t tensor.Tensor) float64 {
	values := make([]float64, t.Len())
	t.Read(values, 0)
	sum, count := 0.0, 0
	for _, x := range values {
		if math.Abs(x) <= math.MaxFloat64 {
			sum += x
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}
