package tensor

import (
	"math"
	"sync"
)

// format is a floating-point type of up to 16 bits: a sign, then exponent and
// mantissa. All of them share encode and decode.
type format struct {
	exponent, mantissa, bias int
	specials                 specials
	unsigned                 bool // e8m0: powers of two, neither sign nor zero
}

// specials is which patterns of a type are not finite.
type specials int

const (
	ieee    specials = iota // the last exponent is for infinities and NaN
	lastNaN                 // only the last pattern of either sign is NaN; no infinity
	zeroNaN                 // only negative zero is NaN; no infinity
	finite                  // neither
)

var formats = map[DType]format{
	F16:      {exponent: 5, mantissa: 10, bias: 15},
	BF16:     {exponent: 8, mantissa: 7, bias: 127},
	E4M3:     {exponent: 4, mantissa: 3, bias: 7, specials: lastNaN},
	E5M2:     {exponent: 5, mantissa: 2, bias: 15},
	E4M3FNUZ: {exponent: 4, mantissa: 3, bias: 8, specials: zeroNaN},
	E5M2FNUZ: {exponent: 5, mantissa: 2, bias: 16, specials: zeroNaN},
	E8M0:     {exponent: 8, mantissa: 0, bias: 127, specials: lastNaN, unsigned: true},
	E3M2:     {exponent: 3, mantissa: 2, bias: 3, specials: finite},
	E2M3:     {exponent: 2, mantissa: 3, bias: 1, specials: finite},
	E2M1:     {exponent: 2, mantissa: 1, bias: 1, specials: finite},
	E2M1x2:   {exponent: 2, mantissa: 1, bias: 1, specials: finite}, // each of its values
}

// magnitudes returns the bits of exponent and mantissa.
func (f format) magnitudes() uint16 { return uint16(1<<(f.exponent+f.mantissa) - 1) }

// sign returns the bit of the sign, 0 if the type has none.
func (f format) sign() uint16 {
	if f.unsigned {
		return 0
	}
	return 1 << (f.exponent + f.mantissa)
}

// overflow returns the pattern of what is too large, without its sign: infinity, NaN if
// the type has no infinity, or the largest value if it has neither.
func (f format) overflow() uint16 {
	switch f.specials {
	case ieee:
		return f.magnitudes() + 1 - 1<<f.mantissa
	case zeroNaN:
		return f.sign()
	default:
		return f.magnitudes()
	}
}

// largest returns the pattern of the largest finite value.
func (f format) largest() uint16 {
	if f.specials == finite {
		return f.magnitudes()
	}
	return f.overflow() - 1
}

func (f format) nan() uint16 {
	if f.specials == ieee {
		return f.overflow() | 1<<(f.mantissa-1)
	}
	return f.overflow()
}

// lowest returns the exponent of the smallest value with a full mantissa.
func (f format) lowest() int {
	if f.unsigned {
		return -f.bias
	}
	return 1 - f.bias
}

// encode rounds once, to nearest, ties to the even pattern. A value that is too large
// becomes infinity, or NaN in types without infinity, as in PyTorch's cast, or the
// largest value in types without NaN, as does NaN itself. (Hardware can also saturate.
// Comparing allows for that; encoding does not guess.) A type without a sign drops it.
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
		return sign | f.overflow()
	case f.unsigned && exponent < f.lowest():
		return 0
	}
	significand := bits&(1<<52-1) | 1<<52 // a subnormal float64 is far below the range of all formats and becomes 0
	lowest := f.lowest()
	drop := 52 - f.mantissa
	if exponent < lowest {
		drop += lowest - exponent
		exponent = lowest
	}
	var q uint64
	if drop <= 53 {
		q = significand >> drop
		rest, half := significand&(1<<drop-1), uint64(1)<<(drop-1)
		if rest > half || rest == half && q&1 == 1 {
			q++
		}
	}
	// q includes its leading bit, which adds one to the exponent; a carry adds another.
	pattern := uint16(min(uint64(exponent+f.bias-1)<<f.mantissa+q, uint64(f.overflow())))
	if pattern == 0 && f.specials == zeroNaN {
		return 0
	}
	return sign | pattern
}

// decode returns the value of a pattern. Bits above those of the type are ignored.
func (f format) decode(pattern uint16) float64 {
	magnitude := pattern & f.magnitudes()
	negative := pattern&f.sign() != 0
	var x float64
	switch {
	case f.specials == ieee && magnitude > f.overflow(),
		f.specials == lastNaN && magnitude == f.overflow(),
		f.specials == zeroNaN && magnitude == 0 && negative:
		return math.NaN()
	case f.specials == ieee && magnitude == f.overflow():
		x = math.Inf(1)
	case magnitude < 1<<f.mantissa && !f.unsigned:
		x = math.Ldexp(float64(magnitude), 1-f.bias-f.mantissa)
	default:
		significand := magnitude&(1<<f.mantissa-1) | 1<<f.mantissa
		x = math.Ldexp(float64(significand), int(magnitude>>f.mantissa)-f.bias-f.mantissa)
	}
	if negative {
		return -x
	}
	return x
}

// table returns the value of every pattern of n bits, so that decoding is one load.
func (f format) table(n int) []float32 {
	t := make([]float32, 1<<n)
	for i := range t {
		t[i] = float32(f.decode(uint16(i)))
	}
	return t
}

var (
	halves     = sync.OnceValue(func() []float32 { return formats[F16].table(16) })
	bytewise   = bytewiseTables()
	tf32Mask   = ^uint32(1<<13 - 1)
	tf32Middle = uint32(1 << 12)
)

// bytewiseTables returns the values of the 256 patterns of each type of at most a byte.
func bytewiseTables() map[DType]func() []float32 {
	all := map[DType]func() []float32{}
	for d, f := range formats {
		if d.Size() == 1 {
			all[d] = sync.OnceValue(func() []float32 { return f.table(8) })
		}
	}
	return all
}

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
