package suite

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Limits of a tensor map, as cuTensorMapEncodeTiled documents them.
const (
	maxMapBox    = 256
	maxMapSize   = 1 << 32
	maxMapStride = 1 << 40 // bytes
	mapUnit      = 16      // bytes: strides and rows of a tile are multiples of it
)

// mapSwizzles are the patterns that the driver knows, in bytes; 0 is none.
var mapSwizzles = []int{0, 32, 64, 128}

// tensorMap computes how a CUDA kernel takes tensor a. It checks what the driver would
// refuse without a reason.
func (d *mapDoc) tensorMap(a tensor.Argument, variables map[string]any) (*tensor.Map, *evalError) {
	m := &tensor.Map{}
	var bad *evalError
	if m.Box, bad = evalSizes(d.Box, variables, 1); bad != nil {
		return nil, bad
	}
	if d.Swizzle.set() {
		list, bad := evalSizes([]formula{d.Swizzle}, variables, 0)
		if bad != nil {
			return nil, bad
		}
		m.Swizzle = list[0]
	}
	if !slices.Contains(mapSwizzles, m.Swizzle) {
		return nil, &evalError{d.Swizzle, fmt.Errorf("%d is not 0, 32, 64 or 128 bytes", m.Swizzle)}
	}
	for i, n := range m.Box {
		if n > maxMapBox {
			return nil, &evalError{d.Box[i], fmt.Errorf("a box has at most %d elements in each dimension, not %d", maxMapBox, n)}
		}
	}
	inner := len(m.Box) - 1
	row := m.Box[inner] * a.DType.Size()
	switch {
	case row%mapUnit != 0:
		return nil, &evalError{d.Box[inner], fmt.Errorf("a row of the box has %d bytes, which is no multiple of %d", row, mapUnit)}
	case m.Swizzle > 0 && row > m.Swizzle:
		return nil, &evalError{d.Box[inner], fmt.Errorf("a row of the box has %d bytes, more than the swizzle of %d", row, m.Swizzle)}
	}
	if err := mappable(a); err != nil {
		return nil, &evalError{d.Box[0], err}
	}
	return m, nil
}

func (r *resolver) checkMap(e *entry[benchmarkDoc], a *entry[argumentDoc], params []string) {
	d := a.value
	role, _ := d.role()
	switch {
	case role == tensor.Value:
		r.Add(a.at, "", "argument %q is a value and cannot have map", a.name)
	case !e.value.Launch.isCUDA():
		r.Add(a.at, "", "argument %q has map, which is for CUDA kernels of launch", a.name)
	case len(d.Map.Box) != len(d.Shape):
		r.Add(a.at, "", "argument %q has %d sizes and a box of %d", a.name, len(d.Shape), len(d.Map.Box))
	}
	for _, x := range append(slices.Clone(d.Map.Box), d.Map.Swizzle) {
		r.checkVariables(x, params)
	}
}

// mappable reports why the driver can make no map of a tensor.
func mappable(a tensor.Argument) error {
	stride := a.DType.Size() // bytes from one index to the next in a tensor without gaps
	for i, size := range slices.Backward(a.Shape) {
		inner := i == len(a.Shape)-1
		bytes := stride
		if len(a.Strides) > 0 {
			bytes = a.Strides[i] * a.DType.Size()
		}
		switch {
		case size > maxMapSize:
			return fmt.Errorf("a tensor map has at most 2^32 elements in each dimension, not %d", size)
		case inner && bytes != a.DType.Size():
			return fmt.Errorf("the last stride of a tensor with a map must be 1, not %d", a.Strides[i])
		case !inner && (bytes%mapUnit != 0 || bytes >= maxMapStride):
			return fmt.Errorf("a stride of %d bytes is no multiple of %d below 2^40, which a tensor map requires", bytes, mapUnit)
		}
		stride *= size
	}
	return nil
}
