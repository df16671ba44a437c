package tensor

// DType is an element type, as suites spell it.
type DType string

// Element types. TF32 is stored as F32 and computed with ten bits of mantissa: only
// the tolerance differs. Types of six and four bits take a byte for each value, in its
// low bits, but for E2M1x2.
const (
	F64      DType = "f64"
	F32      DType = "f32"
	TF32     DType = "tf32"
	F16      DType = "f16"
	BF16     DType = "bf16"
	E4M3     DType = "e4m3"     // FP8, e4m3fn: no infinity, one NaN
	E5M2     DType = "e5m2"     // FP8 with the semantics of IEEE
	E4M3FNUZ DType = "e4m3fnuz" // FP8 of AMD's CDNA 3: half the values of E4M3; NaN in place of -0, no infinity
	E5M2FNUZ DType = "e5m2fnuz" // as E5M2, the same way
	E8M0     DType = "e8m0"     // scale of an MX block: powers of two, without sign and zero; one NaN
	E3M2     DType = "e3m2"     // FP6: neither infinity nor NaN
	E2M3     DType = "e2m3"     // FP6: neither infinity nor NaN
	E2M1     DType = "e2m1"     // FP4: neither infinity nor NaN
	E2M1x2   DType = "e2m1x2"   // two values of E2M1 in a byte, the first in the low bits
	I64      DType = "i64"
	I32      DType = "i32"
	I16      DType = "i16"
	I8       DType = "i8"
	U8       DType = "u8"
	Bool     DType = "bool"
)

// Size returns the bytes of an element, or 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case F64, I64:
		return 8
	case F32, TF32, I32:
		return 4
	case F16, BF16, I16:
		return 2
	case E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0, E3M2, E2M3, E2M1, E2M1x2, I8, U8, Bool:
		return 1
	default:
		return 0
	}
}

// Lanes returns how many values an element holds.
func (d DType) Lanes() int {
	if d == E2M1x2 {
		return 2
	}
	return 1
}

// Lane returns the type of one value of an element.
func (d DType) Lane() DType {
	if d == E2M1x2 {
		return E2M1
	}
	return d
}

// ValueShape returns the shape of the values of a tensor: its last dimension has all
// values of its elements.
func (d DType) ValueShape(shape []int) []int {
	lanes := d.Lanes()
	switch {
	case lanes == 1:
		return shape
	case len(shape) == 0:
		return []int{lanes}
	}
	last := len(shape) - 1
	return append(shape[:last:last], shape[last]*lanes)
}

// Known reports whether the type exists.
func (d DType) Known() bool { return d.Size() > 0 }

// IsFloat reports whether the elements have an exponent.
func (d DType) IsFloat() bool {
	_, small := formats[d]
	return small || d == F64 || d == F32 || d == TF32
}

// HasInfinity reports whether the type can hold infinity.
func (d DType) HasInfinity() bool {
	f, small := formats[d]
	return small && f.specials == ieee || d == F64 || d == F32 || d == TF32
}

// HasNaN reports whether the type can hold NaN.
func (d DType) HasNaN() bool {
	f, small := formats[d]
	return small && f.specials != finite || d == F64 || d == F32 || d == TF32
}

// DTypes lists the types, widest first.
func DTypes() []DType {
	return []DType{
		F64, F32, TF32, F16, BF16, E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0, E3M2, E2M3, E2M1, E2M1x2,
		I64, I32, I16, I8, U8, Bool,
	}
}
