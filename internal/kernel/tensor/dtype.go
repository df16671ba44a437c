package tensor

// DType is an element type, as suites spell it.
type DType string

// Element types. TF32 is stored as F32 and computed with ten bits of mantissa: only
// the tolerance differs.
const (
	F64  DType = "f64"
	F32  DType = "f32"
	TF32 DType = "tf32"
	F16  DType = "f16"
	BF16 DType = "bf16"
	E4M3 DType = "e4m3" // FP8, e4m3fn: no infinity, one NaN
	E5M2 DType = "e5m2" // FP8 with the semantics of IEEE
	I64  DType = "i64"
	I32  DType = "i32"
	I16  DType = "i16"
	I8   DType = "i8"
	U8   DType = "u8"
	Bool DType = "bool"
)
