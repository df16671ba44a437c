package stats

import "math"

// Trimmed is the mean of values without the smallest and the largest, by Yuen's method. A few outliers
// hardly move it, while they would dominate Student's t.
type Trimmed struct {
	N    int // number of values before trimming
	Kept int
	Mean float64 // mean of the kept values
	SE   float64 // standard error of the mean
}

// NewTrimmed drops a share of the values at each end, rounded down: 0.25 keeps the middle half. The
// standard error is computed from all values, with each dropped one replaced by the nearest kept one.
// With fewer than two kept values it is infinite.
func NewTrimmed(values []float64, share float64) Trimmed {
	s := Sort(values)
	cut := int(share * float64(len(s)))
	t := Trimmed{N: len(s), Kept: len(s) - 2*cut, SE: math.Inf(1)}
	if cut < 0 || t.Kept < 1 || !s.usable() {
		t.Kept, t.Mean = 0, math.NaN()
		return t
	}
	t.Mean = Mean(s[cut : len(s)-cut])
	if t.Kept < 2 {
		return t
	}
	moved := Sort(s)
	for i := range cut {
		moved[i], moved[len(s)-1-i] = s[cut], s[len(s)-1-cut]
	}
	_, squares := moments(moved)
	t.SE = math.Sqrt(squares / float64(t.Kept*(t.Kept-1)))
	return t
}

// DF returns the number of degrees of freedom.
func (t Trimmed) DF() float64 { return float64(t.Kept - 1) }
