package trend

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// pool sums up the residuals of parts: how large they are, and how much each depends on those before it.
type pool struct {
	N    float64    `json:"n"`
	SS   float64    `json:"ss"`
	Lags [3]float64 `json:"lags"` // sums of products of residuals that are lags apart
	Used float64    `json:"used"` // parameters that were fitted
}

var lags = [3]int{1, 2, 4}

// with returns the pool with the residuals of one more part.
func (q pool) with(e []float64, parameters float64) pool {
	q.N += float64(len(e))
	q.Used += parameters
	for i, v := range e {
		q.SS += v * v
		for k, lag := range lags {
			if i >= lag {
				q.Lags[k] += v * e[i-lag]
			}
		}
	}
	return q
}

// maxPool bounds the weight of closed parts, so that the noise of long ago fades.
const maxPool = 100

func (q pool) faded() pool {
	if q.N <= maxPool {
		return q
	}
	f := maxPool / q.N
	q.N, q.SS, q.Used = maxPool, q.SS*f, q.Used*f
	for k := range q.Lags {
		q.Lags[k] *= f
	}
	return q
}

const (
	priorCorrelation = 0.3 // assumed while a history is short
	priorWeight      = 20  // values that this assumption is worth
	maxCorrelation   = 0.95
)

// correlation estimates how much neighbors depend on each other, as the coefficient of a first-order
// autoregression. Fitted levels make residuals look more independent than they are (Kendall 1954), which is
// corrected. Noise that wanders below a larger independent noise shows at longer lags only; these count
// where they are certain.
func (q pool) correlation() float64 {
	if !(q.SS > 0) {
		return priorCorrelation
	}
	at := func(k int) float64 {
		r := q.Lags[k] / q.SS
		return r + (1+3*max(r, 0))*q.Used/q.N
	}
	r := (q.N*at(0) + priorWeight*priorCorrelation) / (q.N + priorWeight)
	for k := 1; k < len(lags); k++ {
		if sure := at(k) - 1.5/math.Sqrt(q.N); sure > 0 {
			r = max(r, math.Pow(sure, 1/float64(lags[k])))
		}
	}
	return min(max(r, 0), maxCorrelation)
}

// minSpread is the min standard deviation assumed of a value, as a fraction.
const minSpread = 0.001

// test returns the p-value of a candidate if there is no change, and the variance that one unit of gain is
// worth.
func (q pool) test(p part, c candidate) (value, unit float64) {
	n := len(p.y)
	e, w := make([]float64, n), make([]float64, n)
	for i, v := range p.y {
		z := c.value(p, i)
		e[i] = v - p.line(i) - c.size*z
		w[i] = z / c.norm
	}
	parameters := 2.0
	if p.sloped {
		parameters++
	}
	q = q.with(e, parameters)
	r := q.correlation()
	inflation := (1 + r) / (1 - r)
	variance := q.SS / max(q.N-q.Used*inflation, q.N/3)
	tick := quantum(p.y, c.at)
	variance = max(variance, minSpread*minSpread, tick*tick/12)
	own := variance
	if !c.bend {
		own = noisier(variance, e, w, c.at)
	}
	// The variance of the estimated size: the sum of w[i] w[j] r^|i-j|, of which f carries the part before i.
	var sum, f float64
	for i := range w {
		if i > 0 {
			f = r * (f + w[i-1])
		}
		sum += w[i] * (w[i] + 2*f)
	}
	t := math.Abs(c.size) / math.Sqrt(own*sum)
	df := max(q.N/inflation-q.Used, 1)
	return 2 * stats.TCDF(-t, df), variance * inflation
}

// noisier returns the variance with which to judge a step after which the values vary more than before.
// The new values count as much as they weigh in the estimate.
func noisier(variance float64, e, w []float64, at int) float64 {
	const known = 8 // values that the known variance is worth
	var ss, own, all float64
	for i, v := range e {
		all += w[i] * w[i]
		if i >= at {
			ss += v * v
			own += w[i] * w[i]
		}
	}
	m := float64(len(e) - at)
	after := (known*variance + ss) / (known + m - 1)
	return variance + max(0, after-variance)*own/all
}

// quantum returns the resolution of values of which many are equal to their neighbor; otherwise 0. The
// difference at a step does not count.
func quantum(y []float64, step int) float64 {
	equal, smallest := 0, math.Inf(1)
	for i := 1; i < len(y); i++ {
		d := math.Abs(y[i] - y[i-1])
		if d == 0 {
			equal++
		} else if i != step {
			smallest = min(smallest, d)
		}
	}
	if equal*5 < len(y) || math.IsInf(smallest, 1) {
		return 0
	}
	return smallest
}

// noise returns the roughness of the last values, as a fraction of the level.
func noise(y []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	steps := make([]float64, len(y)-1)
	for i := range steps {
		steps[i] = math.Abs(y[i+1] - y[i])
	}
	slices.Sort(steps)
	return 1.4826 / math.Sqrt2 * (steps[(len(steps)-1)/2] + steps[len(steps)/2]) / 2
}
