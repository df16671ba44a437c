package tensor

import (
	"math"
	"sync"
)

// format is a floating-point type of up to 16 bits: a sign, then exponent and
// mantissa. All of them share encode and decode.
type format struct {
	exponent, mantissa int
	finite             bool // e4m3fn: no infinities, and only the last pattern is NaN
}

var formats = map[DType]format{
	F16:  {exponent: 5, mantissa: 10},
	BF16: {exponent: 8, mantissa: 7},
	E4M3: {exponent: 4, mantissa: 3, finite: true},
	E5M2: {exponent: 5, mantissa: 2},
}

func (f format) bias() int    { return 1<<(f.exponent-1) - 1 }
func (f format) sign() uint16 { return 1 << (f.exponent + f.mantissa) }

// infinity returns the pattern above all finite ones: infinity, or NaN if the type has none.
func (f format) infinity() uint16 {
	if f.finite {
		return f.sign() - 1
	}
	return f.sign() - 1<<f.mantissa
}

func (f format) nan() uint16 {
	if f.finite {
		return f.sign() - 1
	}
	return f.infinity() | 1<<(f.mantissa-1)
}

// encode rounds once, to nearest, ties to the even pattern. A value that is too large
// becomes infinity, or NaN in e4m3fn, as in PyTorch's cast. (Hardware can also
// saturate. Comparing allows for that; encoding does not guess.)
func (f format) encode(x float64) uint16 {
	bits := math.Float64bits(x)
	var sign uint16
	if bits>>63 != 0 {
		sign = f.sign()
	}
	exponent := int(bits>>52&0x7ff) - 1023
	switch {
	case exponent == 1024 && bits<<12 != 0:
		return sign | f.nan()
	case exponent == 1024:
		return sign | f.infinity()
	}
	significand := bits&(1<<52-1) | 1<<52 // a subnormal float64 is far below the range of all formats and becomes 0
	lowest := 1 - f.bias()
	drop := 52 - f.mantissa
	if exponent < lowest {
		drop += lowest - exponent
		exponent = lowest
	}
	if drop > 53 {
		return sign
	}
	q := significand >> drop
	rest, half := significand&(1<<drop-1), uint64(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	// q includes its leading bit, which adds one to the exponent; a carry adds another.
	pattern := uint64(exponent+f.bias()-1)<<f.mantissa + q
	return sign | uint16(min(pattern, uint64(f.infinity())))
}

func (f format) decode(pattern uint16) float64 {
	magnitude := pattern & (f.sign() - 1)
	var x float64
	switch {
	case magnitude > f.infinity() || f.finite && magnitude == f.infinity():
		return math.NaN()
	case magnitude == f.infinity():
		x = math.Inf(1)
	case magnitude < 1<<f.mantissa:
		x = math.Ldexp(float64(magnitude), 1-f.bias()-f.mantissa)
	default:
		significand := magnitude&(1<<f.mantissa-1) | 1<<f.mantissa
		x = math.Ldexp(float64(significand), int(magnitude>>f.mantissa)-f.bias()-f.mantissa)
	}
	if pattern&f.sign() != 0 {
		return -x
	}
	return x
}

// table returns every value of the type, so that decoding is one load.
func (f format) table() []float32 {
	t := make([]float32, 2*int(f.sign()))
	for i := range t {
		t[i] = float32(f.decode(uint16(i)))
	}
	return t
}

var (
	halves     = sync.OnceValue(formats[F16].table)
	eightE4M3  = sync.OnceValue(formats[E4M3].table)
	eightE5M2  = sync.OnceValue(formats[E5M2].table)
	tf32Mask   = ^uint32(1<<13 - 1)
	tf32Middle = uint32(1 << 12)
)

// RoundTF32 rounds to the ten bits of mantissa that a tensor core keeps of an FP32
// operand: to nearest, ties away from zero, as the PTX conversion cvt.rna.tf32.f32
// does.
func RoundTF32(x float32) float32 {
	bits := math.Float32bits(x)
	if bits&0x7f800000 == 0x7f800000 {
		return x
	}
	return math.Float32frombits((bits + tf32Middle) & tf32Mask)
}
