package correctness

import (
	"cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Rules say how far an output may be from the correct result. All rules that are set must
// hold. In any case, infinities must match by position and sign, and NaN by position.
type Rules struct {
	Close  *Close   // limit for every element
	Flash  *float64 // max ratio of the largest error to that of the naive computation, plus a step of the type
	Cosine *float64 // max of 1 - 2xy/(xx+yy) over all elements
	// Relative raises the limit of Cosine to four times the difference of the naive
	// computation, if there is one: twice its error.
	Relative bool
}

// Close requires |got-want| <= Atol + Rtol*|want| of an element.
type Close struct {
	Atol, Rtol float64
	Matched    float64 // fraction of elements that must be that close; 1 means all
	// Scaled multiplies Atol by the root mean square of the correct result if that is
	// above 1. An absolute limit for values near one does not fit sums in the thousands:
	// the rounding of their parts alone is larger.
	Scaled bool
}

// closeTo is the table of torch.testing.assert_close; integers and bool are exact.
// TF32 has the mantissa of F16.
var closeTo = map[tensor.DType]Close{
	tensor.F64:  {Atol: 1e-7, Rtol: 1e-7, Matched: 1},
	tensor.F32:  {Atol: 1e-5, Rtol: 1.3e-6, Matched: 1},
	tensor.TF32: {Atol: 1e-5, Rtol: 1e-3, Matched: 1},
	tensor.F16:  {Atol: 1e-5, Rtol: 1e-3, Matched: 1},
	tensor.BF16: {Atol: 1e-5, Rtol: 1.6e-2, Matched: 1},
	// Not in PyTorch's table, which requires these to be exact: one step of the type, for
	// 95 of 100 elements, because a sum that falls between two values may round either way.
	tensor.E4M3:     {Atol: 0x1p-9, Rtol: 0.125, Matched: 0.95},
	tensor.E5M2:     {Atol: 0x1p-16, Rtol: 0.25, Matched: 0.95},
	tensor.E4M3FNUZ: {Atol: 0x1p-10, Rtol: 0.125, Matched: 0.95},
	tensor.E5M2FNUZ: {Atol: 0x1p-17, Rtol: 0.25, Matched: 0.95},
	tensor.E3M2:     {Atol: 0x1p-4, Rtol: 0.25, Matched: 0.95},
	tensor.E2M3:     {Atol: 0x1p-3, Rtol: 0.125, Matched: 0.95},
	// FP4 has seven values above zero: a whole step would let zeros pass for a result. This
	// is half a step, and what rounding costs between the largest values.
	tensor.E2M1:   {Atol: 0.25, Rtol: 0.2, Matched: 0.95},
	tensor.E2M1x2: {Atol: 0.25, Rtol: 0.2, Matched: 0.95},
	// A step is a factor of two. Half of it in either direction passes, and one down.
	tensor.E8M0: {Atol: 0x1p-127, Rtol: 0.5, Matched: 0.95},
}

// cosines bounds the difference in direction. Rounding an output to its type costs
// about epsilon squared / 45. The limits are a few times that, and below the cost of
// the next smaller type's precision.
var cosines = map[tensor.DType]float64{
	tensor.F64: 1e-18, tensor.F32: 1e-9, tensor.TF32: 5e-7, tensor.F16: 5e-7, tensor.BF16: 1e-5,
	tensor.E4M3: 1e-3, tensor.E5M2: 4e-3, tensor.E4M3FNUZ: 1e-3, tensor.E5M2FNUZ: 4e-3,
	tensor.E3M2: 4e-3, tensor.E2M3: 1e-3, tensor.E2M1: 2e-2, tensor.E2M1x2: 2e-2, tensor.E8M0: 5e-2,
}

// defaultFlash is the factor that flash-attention uses.
const defaultFlash = 2

// RulesFor returns the rules for an output of a type. If the suite sets a tolerance, only
// that applies. Otherwise the rules depend on the type, and on whether there is a naive
// computation in the same type to compare with.
func RulesFor(t suite.Tolerance, d tensor.DType, naive bool) Rules {
	if t == (suite.Tolerance{}) {
		return defaults(d, naive)
	}
	r := Rules{Flash: t.Flash, Cosine: t.Cosine}
	if t.Atol != nil || t.Rtol != nil {
		r.Close = &Close{Atol: value(t.Atol), Rtol: value(t.Rtol), Matched: 1}
	} else if t.Matched != nil {
		r.Close = closeOf(d)
	}
	if t.Matched != nil {
		r.Close.Matched = *t.Matched
	}
	return r
}

func defaults(d tensor.DType, naive bool) Rules {
	limit, float := cosines[d]
	switch {
	case !float:
		return Rules{Close: closeOf(d)}
	case d.Size() == 1:
		return Rules{Close: closeOf(d), Cosine: &limit}
	case naive:
		factor := float64(defaultFlash)
		return Rules{Flash: &factor, Cosine: &limit, Relative: true}
	}
	c := closeOf(d)
	c.Scaled = true
	return Rules{Close: c}
}

func closeOf(d tensor.DType) *Close {
	c := closeTo[d]
	c.Matched = cmp.Or(c.Matched, 1)
	return &c
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}
