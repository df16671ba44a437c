package correctness

import (
	"bytes"
	"math"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// walk visits all elements once and collects what the rules need.
type walk struct {
	Sides
	dtype      tensor.DType
	atol, rtol float64
	high       float64 // the largest finite value of the type
	overflows  float64 // values from here on round to infinity
	saturates  bool    // the type has no infinity: NaN or the largest value replaces it
	half       float64 // half of epsilon: relative errors up to this are rounding
	least      float64

	misplacedNaN, misplacedInf, unwritten, far int
	firstNaN, firstInf, firstUnwritten         int
	worstExcess                                float64
	worstAt                                    int

	maxAbs, maxRel, maxULP, naiveMax float64
	largest                          float64 // largest value of the correct result
	norm, errors                     float64 // sums of squares over elements where both are finite
	naiveErrors, naiveNorm           float64
	finite                           int
	floor                            float64 // smaller errors are noise without direction
	poison                           []byte
}

func newWalk(s Sides, r Rules) *walk {
	w := &walk{Sides: s, dtype: s.Got.DType, firstNaN: -1, firstInf: -1, firstUnwritten: -1, worstExcess: math.Inf(-1)}
	_, w.high = w.dtype.Limits()
	w.overflows = w.high + step(w.dtype, w.high)/2
	w.saturates = w.dtype.IsFloat() && !w.dtype.HasInfinity()
	w.half, w.least = w.dtype.Epsilon()/2, w.dtype.SmallestNormal()
	w.floor = closeTo[w.dtype].Atol
	if r.Close != nil {
		w.atol, w.rtol = r.Close.Atol, r.Close.Rtol
		if r.Close.Scaled {
			w.atol *= max(1, rms(s.Want))
		}
	}
	return w
}

const chunk = 4096 // elements; three chunks fit in the L1 cache

func (w *walk) all() {
	var want, got, naive [chunk]float64
	n := w.Got.Len()
	for from := 0; from < n; from += chunk {
		size := min(chunk, n-from)
		w.Want.Read(want[:size], from)
		w.Got.Read(got[:size], from)
		for i, x := range want[:size] {
			w.element(from+i, x, got[i])
		}
		if w.Naive == nil {
			continue
		}
		w.Naive.Read(naive[:size], from)
		for i, x := range want[:size] {
			w.naive(x, naive[i])
		}
	}
}

func (w *walk) element(at int, want, got float64) {
	diff := math.Abs(got - want)
	// One comparison handles the common case: both sides are finite.
	if !(diff <= math.MaxFloat64) || math.Abs(want) >= w.overflows {
		if !w.special(at, want, got) {
			return
		}
	}
	size, tolerance := math.Abs(want), w.allowed(want)
	if diff > tolerance {
		w.far++
		w.countIfUnwritten(at, got)
	}
	if excess := diff - tolerance; excess > w.worstExcess {
		w.worstExcess, w.worstAt = excess, at
	}
	w.maxAbs = max(w.maxAbs, diff)
	w.largest = max(w.largest, size)
	if diff > w.half*max(size, w.least) {
		w.maxULP = max(w.maxULP, tensor.ULP(w.dtype, want, got))
	}
	if diff > w.maxRel*size && size > 0 {
		w.maxRel = min(diff/size, math.MaxFloat64)
	}
	w.finite++
	w.norm += want*want + got*got
	w.errors += diff * diff
}

// allowed returns the max error of an element by the element rule.
func (w *walk) allowed(want float64) float64 { return w.atol + w.rtol*math.Abs(want) }

// special checks an element if a side is not finite, or if the correct result does not
// fit the type. It reports whether the element must also be compared as a number.
func (w *walk) special(at int, want, got float64) bool {
	tooLarge := math.IsInf(want, 0) || math.Abs(want)+w.allowed(want) >= w.overflows
	sameSign := math.Signbit(want) == math.Signbit(got)
	switch {
	case math.IsNaN(want) && !w.dtype.HasNaN(): // no value is right, and none is wrong
	case math.IsNaN(want):
		if !math.IsNaN(got) {
			w.misplacedNaN++
			w.first(&w.firstNaN, at)
		} else if w.isPoison(at) {
			w.countIfUnwritten(at, got)
		}
	case tooLarge && w.saturates && (math.IsNaN(got) || math.Abs(got) == w.high && sameSign):
	case math.IsNaN(got):
		w.misplacedNaN++
		w.first(&w.firstNaN, at)
		w.countIfUnwritten(at, got)
	case math.IsInf(got, 0) && tooLarge && sameSign:
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		w.misplacedInf++
		w.first(&w.firstInf, at)
		w.countIfUnwritten(at, got)
	default:
		return true
	}
	return false
}

func (w *walk) naive(want, naive float64) {
	diff := math.Abs(naive - want)
	if !(diff <= math.MaxFloat64) {
		return
	}
	w.naiveMax = max(w.naiveMax, diff)
	w.naiveErrors += diff * diff
	w.naiveNorm += want*want + naive*naive
}

func (w *walk) first(place *int, at int) {
	if *place < 0 {
		*place = at
	}
}

// countIfUnwritten checks whether a wrong element was never written.
func (w *walk) countIfUnwritten(at int, got float64) {
	if (math.IsNaN(got) || !w.dtype.IsFloat() || w.dtype.Size() == 1) && w.isPoison(at) {
		w.unwritten++
		w.first(&w.firstUnwritten, at)
	}
}

func (w *walk) isPoison(at int) bool {
	if w.Poison == nil {
		return false
	}
	return w.holdsPoison(w.Got.Place(at))
}

func (w *walk) holdsPoison(place int) bool {
	if w.poison == nil {
		w.poison = tensor.Poison(*w.Poison, len(w.Got.Data))
	}
	size := w.dtype.Size()
	return bytes.Equal(w.Got.Data[place*size:(place+1)*size], w.poison[place*size:(place+1)*size])
}

// gaps counts the positions of the storage that belong to no element but were written.
func (w *walk) gaps() int {
	n := len(w.Got.Data) / w.dtype.Size()
	used := make([]bool, n)
	for at := range w.Got.Len() {
		used[w.Got.Place(at)] = true
	}
	written := 0
	for place := range n {
		if !used[place] && !w.holdsPoison(place) {
			written++
		}
	}
	return written
}

// worst returns the element to show: the first that was never written, the first misplaced
// NaN or infinity, or the one furthest outside its tolerance.
func (w *walk) worst(s Sides) Element {
	at := w.worstAt
	for _, place := range []int{w.firstInf, w.firstNaN, w.firstUnwritten} {
		if place >= 0 {
			at = place
		}
	}
	if s.Got.Len() == 0 {
		return Element{}
	}
	var want, got [1]float64
	s.Want.Read(want[:], at)
	s.Got.Read(got[:], at)
	return Element{Position: at, Index: s.Got.Index(at), Want: Number(want[0]), Got: Number(got[0]), Error: Number(math.Abs(got[0] - want[0])), Allowed: Number(w.allowed(want[0]))}
}

// difference returns 1 - 2xy/(xx+yy), computed as |x-y|^2/(xx+yy), which does not cancel.
// It returns 0 if the errors are only noise around zero, which has no direction.
func (w *walk) difference() float64 {
	switch {
	case w.errors <= w.floor*w.floor*float64(w.finite) || w.norm == 0:
		return 0
	case math.IsInf(w.errors, 0):
		return 1
	}
	return w.errors / w.norm
}

func (w *walk) naiveDifference() float64 {
	if w.naiveNorm == 0 {
		return 0
	}
	return w.naiveErrors / w.naiveNorm
}

// rms returns the root mean square of the finite elements.
func rms(t tensor.Tensor) float64 {
	var buf [chunk]float64
	sum, count, n := 0.0, 0, t.Len()
	for from := 0; from < n; from += chunk {
		size := min(chunk, n-from)
		t.Read(buf[:size], from)
		for _, x := range buf[:size] {
			if square := x * x; square <= math.MaxFloat64 {
				sum += square
				count++
			}
		}
	}
	if count == 0 {
		return 0
	}
	return math.Sqrt(sum / float64(count))
}
