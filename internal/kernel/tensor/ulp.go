package tensor

import "math"

// ULP returns the distance between two values of a type in units in the last place: how
// many steps to the next representable value lead from a to b. Both are rounded to the
// type first. Integers, which have no mantissa, count by one. If one side is NaN, the
// distance is the largest possible.
func ULP(d DType, a, b float64) float64 {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || math.IsNaN(b):
		return math.Inf(1)
	case !d.IsFloat():
		return math.Abs(a - b)
	}
	x, y := rank(d, a), rank(d, b)
	if x < y {
		x, y = y, x
	}
	return float64(uint64(x) - uint64(y))
}

// rank numbers the values of a type in ascending order; zero of either sign has rank 0.
func rank(d DType, x float64) int64 {
	var magnitude int64
	switch d {
	case F64:
		magnitude = int64(math.Float64bits(math.Abs(x)))
	case F32:
		magnitude = int64(math.Float32bits(float32(math.Abs(x))))
	case TF32:
		magnitude = int64(math.Float32bits(RoundTF32(float32(math.Abs(x)))) >> 13)
	default:
		magnitude = int64(formats[d].encode(math.Abs(x)))
	}
	if x < 0 {
		return -magnitude
	}
	return magnitude
}
