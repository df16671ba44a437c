package stats

import (
	"fmt"
	"math"
)

// Paired is the evidence from rounds in which both sides were measured. Each round gives one
// difference: the logarithm of the candidate's median over the base's. A shift of 0.03 is about three
// percent slower. Twice as slow and twice as fast differ only in sign.
//
// It assumes that rounds are independent and that differences are close to normal. With fewer than two
// rounds nothing is known: P is 1 and bounds are infinite.
type Paired struct {
	N    int
	Mean float64 // mean of the differences
	Seen float64 // observed standard deviation of the differences
	SD   float64 // standard deviation used by the tests: Seen plus what the timer's step hides
	// Hidden is the part of the mean's variance that the timer's step hides. It is the same in every round,
	// so more rounds do not reduce it.
	Hidden float64
}

// minRelativeStep is the smallest step of any timer, relative to the measured time.
const minRelativeStep = 1e-9

// NewPaired compares the medians of rounds; base and candidate must be in the same order. Quantum is
// the timer's step in their unit, the larger of the two sides, 0 if unknown.
func NewPaired(base, candidate []float64, quantum float64) (Paired, error) {
	if len(base) != len(candidate) {
		return Paired{}, fmt.Errorf("cannot compare rounds in pairs: %d of the base, %d of the candidate; leave out rounds that lack a side", len(base), len(candidate))
	}
	if math.IsNaN(quantum) || math.IsInf(quantum, 0) {
		return Paired{}, fmt.Errorf("cannot compare rounds in pairs: the timer's step is %v; it must be a time, or 0 if unknown", quantum)
	}
	n := len(base)
	logs, d := [2][]float64{make([]float64, n), make([]float64, n)}, make([]float64, n)
	var rounding [2]float64 // by side: the variance from rounding alone
	for i, b := range base {
		c := candidate[i]
		if !(b > 0 && c > 0) || math.IsInf(b, 0) || math.IsInf(c, 0) {
			return Paired{}, fmt.Errorf("cannot compare rounds in pairs: the medians of pair %d are %v and %v; both must be positive", i, b, c)
		}
		for side, median := range [2]float64{b, c} {
			logs[side][i] = math.Log(median)
			step := max(quantum/median, minRelativeStep)
			rounding[side] += step * step / 12 / float64(n)
		}
		d[i] = logs[1][i] - logs[0][i]
	}
	switch n {
	case 0:
		return Paired{SD: math.Inf(1)}, nil
	case 1:
		return Paired{N: 1, Mean: d[0], SD: math.Inf(1)}, nil
	}
	seen := StdDev(d)
	common := max(
		sharedRoundingVariance(rounding[0]+rounding[1], seen),
		sharedRoundingVariance(rounding[0], StdDev(logs[0]))+sharedRoundingVariance(rounding[1], StdDev(logs[1])),
	)
	return Paired{N: n, Mean: Mean(d), Seen: seen, SD: math.Sqrt(seen*seen + float64(n)*common), Hidden: common}, nil
}

// sharedRoundingVariance returns how much of the rounding variance is common to all rounds, given the spread of their
// readings. That part does not average out with more rounds.
//
// A reading rounded to steps of q is off by up to q/2: a variance of q^2/12. Where rounds vary by much
// more than a step, their errors differ, are part of the observed spread, and average out. Where they
// do not, every round is off by the same amount. Noise far below a step can spread readings by q/2 at
// most, if the value lies on the border of two steps: a variance of q^2/4, three times that of
// rounding. Only spread beyond that shows that errors differ.
//
// One side can be quiet while the other is not, and both can vary together while their difference is
// stuck. So hidden is applied to each side and to the difference. With it, the test keeps its false
// alarm rate on simulated timers. Without it, or with a weaker form (only the difference, or a variance
// of q^2/12 instead of q^2/4), the rate is up to a hundred times the nominal one.
func sharedRoundingVariance(rounding, spread float64) float64 {
	return max(rounding-spread*spread/3, 0)
}

// DF returns the number of degrees of freedom.
func (p Paired) DF() float64 { return float64(p.N - 1) }

// SE returns the standard error of the mean.
func (p Paired) SE() float64 { return p.SD / math.Sqrt(float64(p.N)) }

// T returns the number of standard errors by which the mean exceeds the shift.
func (p Paired) T(shift float64) float64 {
	if p.N < 2 {
		return 0
	}
	return (p.Mean - shift) / p.SE()
}

// Above returns the one-sided p-value for a true mean above the shift. It is small if the candidate is
// slower than that.
func (p Paired) Above(shift float64) float64 { return p.tail(-p.T(shift)) }

// Below returns the one-sided p-value for a true mean below the shift.
func (p Paired) Below(shift float64) float64 { return p.tail(p.T(shift)) }

// tail is never 0: a test cannot rule out chance entirely.
func (p Paired) tail(t float64) float64 {
	if p.N < 2 {
		return 1
	}
	return max(TCDF(t, p.DF()), math.SmallestNonzeroFloat64)
}

// Lower returns the one-sided lower confidence bound of the true mean.
func (p Paired) Lower(level float64) float64 { return p.Mean - p.margin(level) }

// Upper returns the one-sided upper confidence bound of the true mean.
func (p Paired) Upper(level float64) float64 { return p.Mean + p.margin(level) }

// Interval returns the two-sided confidence interval of the true mean.
func (p Paired) Interval(level float64) Interval {
	half := p.margin((1 + level) / 2)
	return Interval{p.Mean - half, p.Mean + half}
}

// margin returns the distance from the mean to a one-sided bound.
func (p Paired) margin(level float64) float64 {
	if p.N < 2 {
		return math.Inf(1)
	}
	return TQuantile(level, p.DF()) * p.SE()
}
