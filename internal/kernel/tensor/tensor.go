package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Tensor is a view of elements in a storage: copying it does not copy the data.
type Tensor struct {
	Name    string
	DType   DType
	Shape   []int
	Strides []int  // in elements; empty means row-major without gaps
	Offset  int    // position of the first element, in elements
	Data    []byte // the whole storage, little-endian
}

// maxDims bounds the dimensions of a tensor.
const maxDims = 16

// New returns a tensor of zeros for an argument, with the storage that its strides need.
func New(a Argument) (Tensor, error) {
	t := Tensor{Name: a.Name, DType: a.DType, Shape: a.Shape, Strides: a.Strides}
	n, err := t.Span()
	if err != nil {
		return Tensor{}, fmt.Errorf("argument %q: %w", a.Name, err)
	}
	if n > math.MaxInt/8 {
		return Tensor{}, fmt.Errorf("argument %q: %d elements do not fit in memory", a.Name, n)
	}
	t.Data = make([]byte, n*a.DType.Size())
	return t, nil
}

// Len returns the number of values of the tensor: of its elements, unless they hold
// several values.
func (t Tensor) Len() int { return t.count() * t.DType.Lanes() }

// count returns the number of elements of the shape.
func (t Tensor) count() int {
	n := 1
	for _, size := range t.Shape {
		n *= size
	}
	return n
}

// IsContiguous reports whether the elements are contiguous from the start of the storage, and
// the storage holds nothing else.
func (t Tensor) IsContiguous() bool {
	return t.Offset == 0 && t.dense() && len(t.Data) == t.count()*t.DType.Size()
}

// dense reports whether the elements are contiguous. The stride of a dimension of size
// one is ignored.
func (t Tensor) dense() bool {
	if len(t.Strides) == 0 {
		return true
	}
	want := 1
	for i, size := range slices.Backward(t.Shape) {
		if size != 1 && t.Strides[i] != want {
			return false
		}
		want *= size
	}
	return true
}

// Check returns an error unless every element is inside the storage. Only a checked
// tensor may be read or written.
func (t Tensor) Check() error {
	if err := t.checkStorage(); err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}

// checkStorage is Check for callers whose errors already name the tensor.
func (t Tensor) checkStorage() error {
	need, err := t.Span()
	if err != nil {
		return err
	}
	if have := len(t.Data) / t.DType.Size(); need > have || len(t.Data)%t.DType.Size() != 0 {
		return fmt.Errorf("it has %d bytes of data, but needs %d elements of type %s for shape %v", len(t.Data), need, t.DType, t.Shape)
	}
	return nil
}

// Span returns how many elements of storage the tensor needs.
func (t Tensor) Span() (int, error) {
	switch {
	case !t.DType.Known():
		return 0, fmt.Errorf("unknown element type %q", t.DType)
	case len(t.Shape) > maxDims:
		return 0, fmt.Errorf("%d dimensions, the limit is %d", len(t.Shape), maxDims)
	case len(t.Strides) != 0 && len(t.Strides) != len(t.Shape):
		return 0, fmt.Errorf("%d sizes and %d strides", len(t.Shape), len(t.Strides))
	case t.Offset < 0:
		return 0, fmt.Errorf("the offset %d is negative", t.Offset)
	}
	count, last := 1, t.Offset
	for i, size := range t.Shape {
		if size < 0 {
			return 0, fmt.Errorf("dimension %d has negative size %d", i, size)
		}
		n, overflows := mulChecked(count, size)
		if overflows {
			return 0, errTooLarge
		}
		count = n
		if len(t.Strides) == 0 {
			continue
		}
		reach, over := mulChecked(max(size-1, 0), t.Strides[i])
		switch {
		case t.Strides[i] < 0:
			return 0, fmt.Errorf("dimension %d has negative stride %d", i, t.Strides[i])
		case over || last > math.MaxInt-1-reach:
			return 0, errTooLarge
		}
		last += reach
	}
	switch {
	case count == 0:
		return 0, nil
	case len(t.Strides) != 0:
		return last + 1, nil
	case t.Offset > math.MaxInt-count:
		return 0, errTooLarge
	}
	return t.Offset + count, nil
}

var errTooLarge = errors.New("the size overflows 64 bits")

// mulChecked multiplies two non-negative numbers and reports whether the result fits.
func mulChecked(a, b int) (int, bool) {
	if a != 0 && b > math.MaxInt/a {
		return 0, true
	}
	return a * b, false
}

// Read decodes len(dst) values, starting at position from in the row-major order of
// the shape.
func (t Tensor) Read(dst []float64, from int) {
	lanes, size := t.DType.Lanes(), t.DType.Size()
	if from%lanes != 0 || len(dst)%lanes != 0 {
		copy(dst, t.around(from, len(dst))[from%lanes:])
		return
	}
	for at, run := range t.runs(from/lanes, len(dst)/lanes) {
		Decode(t.DType, dst[:run*lanes], t.Data[at*size:])
		dst = dst[run*lanes:]
	}
}

// Write encodes values, starting at position from in row-major order.
func (t Tensor) Write(from int, src []float64) {
	lanes, size := t.DType.Lanes(), t.DType.Size()
	if from%lanes != 0 || len(src)%lanes != 0 {
		whole := t.around(from, len(src))
		copy(whole[from%lanes:], src)
		from, src = from-from%lanes, whole
	}
	for at, run := range t.runs(from/lanes, len(src)/lanes) {
		Encode(t.DType, t.Data[at*size:], src[:run*lanes])
		src = src[run*lanes:]
	}
}

// around reads the values of all elements that hold one of n values from a position on.
func (t Tensor) around(from, n int) []float64 {
	lanes := t.DType.Lanes()
	first, end := from/lanes, (from+n+lanes-1)/lanes
	values := make([]float64, (end-first)*lanes)
	t.Read(values, first*lanes)
	return values
}

// Elements returns the bytes of the elements in row-major order of the shape: the data
// itself if it is dense, else a copy.
func (t Tensor) Elements() []byte {
	size, n := t.DType.Size(), t.count()
	if t.dense() {
		return t.Data[t.Offset*size : (t.Offset+n)*size]
	}
	out := make([]byte, 0, n*size)
	for at, run := range t.runs(0, n) {
		out = append(out, t.Data[at*size:(at+run)*size]...)
	}
	return out
}

// Place returns the index in the storage of the element with the value at a position in
// row-major order.
func (t Tensor) Place(position int) int {
	position /= t.DType.Lanes()
	if t.dense() {
		return t.Offset + position
	}
	at := t.Offset
	for i, k := range index(position, t.Shape) {
		at += k * t.Strides[i]
	}
	return at
}

// Index converts a position in row-major order to coordinates among the values.
func (t Tensor) Index(position int) []int { return index(position, t.ValueShape()) }

// ValueShape returns the shape of the values.
func (t Tensor) ValueShape() []int { return t.DType.ValueShape(t.Shape) }

func index(position int, shape []int) []int {
	coordinates := make([]int, len(shape))
	for i, size := range slices.Backward(shape) {
		coordinates[i] = position % size
		position /= size
	}
	return coordinates
}

// runs yields the contiguous runs of n elements, in row-major order from a position:
// the start of each in the storage, and its length.
func (t Tensor) runs(from, n int) func(yield func(at, run int) bool) {
	return func(yield func(at, run int) bool) {
		switch {
		case n == 0:
			return
		case t.dense():
			yield(t.Offset+from, n)
			return
		}
		last := len(t.Shape) - 1
		index := index(from, t.Shape)
		for n > 0 {
			at := t.Offset
			for i, k := range index {
				at += k * t.Strides[i]
			}
			run := min(t.Shape[last]-index[last], n)
			if t.Strides[last] == 1 {
				if !yield(at, run) {
					return
				}
			} else {
				for i := range run {
					if !yield(at+i*t.Strides[last], 1) {
						return
					}
				}
			}
			n -= run
			for i := last; i >= 0; i-- {
				if i == last {
					index[i] += run
				} else {
					index[i]++
				}
				if index[i] < t.Shape[i] {
					break
				}
				index[i] = 0
			}
		}
	}
}

// Find returns the tensor of a name, or nil.
func Find(list []Tensor, name string) *Tensor {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
