package oracle

import (
	"cmp"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/internal/tensor"
)

// Rules say how far an output may be from the right result. All that are there must
// hold. Whatever they are, infinities must match by place and sign and NaN by place.
type Rules struct {
	Close  *Close   // of every element
	Flash  *float64 // the largest error is at most so many times that of the naive computation, plus a step of the type
	Cosine *float64 // 1 - 2xy/(xx+yy) over all elements is at most this
	// Relative raises the limit of Cosine to four times the difference of the naive
	// computation, where that is there: twice its error.
	Relative bool
}

// Close holds an element to |got-want| <= Atol + Rtol*|want|.
type Close struct {
	Atol, Rtol float64
	Matched    float64 // the share of elements that must be so close: 1 is all of them
	// Scaled multiplies Atol by the root mean square of the right result where that is
	// above 1. An absolute limit for values of about one says nothing about sums in
	// the thousands: the rounding of their parts alone is larger.
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
	// Not in PyTorch's table, which wants these exact: one step of the type, for 95 of
	// 100 elements, because a sum that falls between two values may go to either.
	tensor.E4M3: {Atol: 0x1p-9, Rtol: 0.125, Matched: 0.95},
	tensor.E5M2: {Atol: 0x1p-16, Rtol: 0.25, Matched: 0.95},
}

// cosines bound the difference in direction. Rounding an output to its type costs
// about epsilon squared / 45; the limits are a few times that, and below what the
// precision of the next smaller type costs.
var cosines = map[tensor.DType]float64{
	tensor.F64: 1e-18, tensor.F32: 1e-9, tensor.TF32: 5e-7, tensor.F16: 5e-7, tensor.BF16: 1e-5,
	tensor.E4M3: 1e-3, tensor.E5M2: 4e-3,
}

// defaultFlash is flash-attention's factor.
const defaultFlash = 2

// RulesFor gives the rules for an output of a type. What the suite writes is all that
// holds; if it writes nothing, the type decides, and whether there is a naive
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
	case d == tensor.E4M3 || d == tensor.E5M2:
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
