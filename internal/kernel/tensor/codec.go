package tensor

import (
	"encoding/binary"
	"math"
)

// Decode reads len(dst) values from the start of src, which must be long enough.
// An int64 beyond 2^53 loses its last bits.
func Decode(d DType, dst []float64, src []byte) {
	src = src[:d.bytes(len(dst))]
	switch d {
	case F64:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
	case F32, TF32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case F16:
		table := (*[1 << 16]float32)(halves())
		for i := range dst {
			dst[i] = float64(table[binary.LittleEndian.Uint16(src[2*i:])])
		}
	case BF16:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16))
		}
	case E2M1x2:
		table := (*[256]float32)(bytewise[d]())
		for i := range dst {
			dst[i] = float64(table[src[i/2]>>(i%2*4)])
		}
	default:
		table, small := bytewise[d]
		if !small {
			decodeIntegers(d, dst, src)
			return
		}
		values := (*[256]float32)(table())
		for i := range dst {
			dst[i] = float64(values[src[i]])
		}
	}
}

// bytes returns the size of n values.
func (d DType) bytes(n int) int { return (n + d.Lanes() - 1) / d.Lanes() * d.Size() }

func decodeIntegers(d DType, dst []float64, src []byte) {
	switch d {
	case I64:
		for i := range dst {
			dst[i] = float64(int64(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case I32:
		for i := range dst {
			dst[i] = float64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case I16:
		for i := range dst {
			dst[i] = float64(int16(binary.LittleEndian.Uint16(src[2*i:])))
		}
	case I8:
		for i := range dst {
			dst[i] = float64(int8(src[i]))
		}
	default: // U8 and Bool
		for i := range dst {
			dst[i] = float64(src[i])
		}
	}
}

// Encode writes the values as elements to the start of dst, which must be long enough.
// An element that the values do not fill gets zeros for the rest.
// Floats are rounded once, to nearest, ties to even; see format.encode for values that
// are too large. Integers are rounded the same way and clamped to their type; NaN becomes 0.
func Encode(d DType, dst []byte, src []float64) {
	dst = dst[:d.bytes(len(src))]
	f, small := formats[d]
	switch d {
	case F64:
		for i, x := range src {
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(x))
		}
	case F32, TF32:
		for i, x := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(x)))
		}
	case F16, BF16:
		for i, x := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], f.encode(x))
		}
	case E2M1x2:
		clear(dst)
		for i, x := range src {
			dst[i/2] |= byte(f.encode(x)) << (i % 2 * 4)
		}
	default:
		if !small {
			encodeIntegers(d, dst, src)
			return
		}
		for i, x := range src {
			dst[i] = byte(f.encode(x))
		}
	}
}

func encodeIntegers(d DType, dst []byte, src []float64) {
	low, high := d.limits()
	for i, x := range src {
		n := int64(0)
		switch x = math.RoundToEven(x); {
		case x >= high:
			n = int64(uint64(1)<<(8*d.Size()-1) - 1)
			if d == U8 || d == Bool {
				n = int64(high)
			}
		case x <= low:
			n = int64(low)
		case x == x:
			n = int64(x)
		}
		switch d.Size() {
		case 8:
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(n))
		case 4:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(n))
		case 2:
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(n))
		case 1:
			dst[i] = byte(n)
		}
	}
}

// limits returns the smallest and largest value of an integer type. For int64 the
// largest is the next float64, one more than the type can hold.
func (d DType) limits() (low, high float64) {
	switch d {
	case Bool:
		return 0, 1
	case U8:
		return 0, math.MaxUint8
	default:
		half := math.Ldexp(1, 8*d.Size()-1)
		if d == I64 {
			return -half, half
		}
		return -half, half - 1
	}
}

// Limits returns the smallest and largest finite value of a type.
func (d DType) Limits() (low, high float64) {
	f, small := formats[d]
	switch {
	case d == F64:
		high = math.MaxFloat64
	case d == F32 || d == TF32:
		high = math.MaxFloat32
	case small && f.unsigned:
		return f.decode(0), f.decode(f.largest())
	case small:
		high = f.decode(f.largest())
	default:
		return d.limits()
	}
	return -high, high
}

// Epsilon returns the distance from 1 to the next larger value of a float type: 2^-10
// for TF32, although it is stored as F32. It is 0 for integers.
func (d DType) Epsilon() float64 {
	switch d {
	case F64:
		return 0x1p-52
	case F32:
		return 0x1p-23
	case TF32:
		return 0x1p-10
	default:
		if f, small := formats[d]; small {
			return math.Ldexp(1, -f.mantissa)
		}
		return 0
	}
}

// SmallestNormal returns the smallest value of a float type with a full mantissa; smaller
// values are denormals. It is 0 for integers.
func (d DType) SmallestNormal() float64 {
	switch d {
	case F64:
		return 0x1p-1022
	case F32, TF32:
		return 0x1p-126
	default:
		if f, small := formats[d]; small {
			return math.Ldexp(1, f.lowest())
		}
		return 0
	}
}

// Round returns x rounded as if stored in an element of the type.
func (d DType) Round(x float64) float64 {
	var b [8]byte
	var out [1]float64
	Encode(d, b[:], []float64{x})
	Decode(d, out[:], b[:])
	return out[0]
}
