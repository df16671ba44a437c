package correctness

import (
	"math"
	"sync"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Kinds of contents, simplest first. A failure is shown with the first kind that still
// fails.
const (
	Zeros        = "zeros"
	Constant     = "constant"       // one value in each input
	OnesAndZeros = "ones_and_zeros" // their sums are exact in every type
	EqualRows    = "equal_rows"     // one row, repeated: ties everywhere
	Uniform      = "uniform"        // from -1 to 1, or between the limits of the argument
	Normal       = "normal"         // mean 0, standard deviation 1
	Large        = "large"          // magnitudes from 2^-10 to 2^4
	Denormal     = "denormal"       // below and just above the smallest normal value
	Infinities   = "infinities"     // normal, with four infinities in each input
)

// Distributions lists the kinds of contents, simplest first.
func Distributions() []string {
	return []string{Zeros, Constant, OnesAndZeros, EqualRows, Uniform, Normal, Large, Denormal, Infinities}
}

// quantile maps a number u between 0 and 1 to the value of a distribution below which
// the fraction u of it lies.
type quantile func(u float64) float64

// quantileOf returns the distribution of single elements of an argument.
func quantileOf(a tensor.Argument, kind string) quantile {
	switch limited := a.Fill.Low < a.Fill.High; {
	case limited && a.DType.IsFloat():
		return between(kind, a.Fill.Low, a.Fill.High)
	case limited:
		return whole(kind, a.Fill.Low, a.Fill.High)
	case !a.DType.IsFloat():
		low, high := a.DType.Limits()
		return whole(kind, max(low, -1<<53), min(high+1, 1<<53))
	}
	switch kind {
	case Zeros:
		return func(float64) float64 { return 0 }
	case OnesAndZeros:
		return coin(0, 1)
	case Uniform:
		return func(u float64) float64 { return 2*u - 1 }
	case Large:
		return large(a.DType)
	case Denormal:
		return denormal(a.DType)
	}
	if a.Fill.Kind == tensor.Uniform {
		return func(u float64) float64 { return 2*u - 1 }
	}
	return normal
}

func coin(a, b float64) quantile {
	return func(u float64) float64 {
		if u < 0.5 {
			return a
		}
		return b
	}
}

// large spreads magnitudes evenly over powers of two. A dot product of some thousand
// terms still fits FP16. An FP32 accumulator computes it to the full precision of FP16,
// and an FP16 accumulator does not.
func large(d tensor.DType) quantile {
	low, high := -10.0, 4.0
	switch d {
	case tensor.E4M3, tensor.E4M3FNUZ:
		low, high = -6, 2 // the maximum of 448 is soon reached
	case tensor.E5M2, tensor.E5M2FNUZ:
		low = -8
	case tensor.E3M2:
		low, high = -4, 2
	case tensor.E2M3, tensor.E2M1, tensor.E2M1x2:
		low, high = -2, 1
	default:
	}
	return func(u float64) float64 {
		return signed(u, func(v float64) float64 { return math.Exp2(low + v*(high-low)) })
	}
}

// denormal draws three quarters below the smallest normal value, the rest up to four
// times it. A kernel that flushes to zero is off there by the whole value.
func denormal(d tensor.DType) quantile {
	least := d.SmallestNormal()
	return func(u float64) float64 {
		return signed(u, func(v float64) float64 {
			if v < 0.75 {
				return v / 0.75 * least
			}
			return least * (1 + 12*(v-0.75))
		})
	}
}

// signed uses half of the range for negative values.
func signed(u float64, magnitude func(float64) float64) float64 {
	if u < 0.5 {
		return -magnitude(1 - 2*u)
	}
	return magnitude(2*u - 1)
}

// between stays within the limits of an argument, for any kind.
func between(kind string, low, high float64) quantile {
	clip := func(x float64) float64 { return min(max(x, low), high) }
	switch kind {
	case Zeros:
		return func(float64) float64 { return clip(0) }
	case OnesAndZeros:
		return coin(clip(0), clip(1))
	case Large: // often the limits themselves
		return func(u float64) float64 { return clip(low + (2*u-0.5)*(high-low)) }
	}
	return func(u float64) float64 { return low + u*(high-low) }
}

// whole draws integers from low to high, exclusive.
func whole(kind string, low, high float64) quantile {
	low, high = math.Ceil(low), math.Ceil(high)
	clip := func(x float64) float64 { return min(max(x, low), high-1) }
	switch kind {
	case Zeros:
		return func(float64) float64 { return clip(0) }
	case OnesAndZeros:
		return coin(clip(0), clip(1))
	case Denormal: // the integers around zero
		return func(u float64) float64 { return clip(math.Floor(3*u) - 1) }
	case Large:
		return func(u float64) float64 { return clip(math.Floor(low + (2*u-0.5)*(high-low))) }
	}
	return func(u float64) float64 { return clip(math.Floor(low + u*(high-low))) }
}

// normal interpolates in a table of quantiles. It needs no logarithm and no rejection,
// so that every element costs the same. The tails end at 4.4 standard deviations.
func normal(u float64) float64 {
	table := normals()
	at := u * steps
	i := min(int(at), steps-1)
	return table[i] + (at-float64(i))*(table[i+1]-table[i])
}

const steps = 1 << 16

var normals = sync.OnceValue(func() *[steps + 1]float64 {
	t := new([steps + 1]float64)
	for i := range t {
		u := min(max(float64(i), 0.35), steps-0.35) / steps
		t[i] = math.Sqrt2 * math.Erfinv(2*u-1)
	}
	return t
})
