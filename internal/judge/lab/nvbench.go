package lab

import (
	"math"
	"sort"

	"github.com/goatnote-inc/pawl/stats"
)

// nvbenchLegacy compares the difference of means with the smaller of the two relative standard
// deviations.
var nvbenchLegacy = Method{
	Name: "NVBench, legacy",
	Rule: "means differ by more than the smaller relative deviation",
	Ask: func(c Comparison) Outcome {
		b, n := samples(c, Base), samples(c, Candidate)
		change := stats.Mean(n)/stats.Mean(b) - 1
		noise := min(stats.CV(b), stats.CV(n))
		switch {
		case math.IsNaN(noise):
			return Outcome{Abstains, 1}
		case math.Abs(change) <= noise:
			return Outcome{Nothing, 1}
		case change > 0:
			return Outcome{Slower, 1}
		default:
			return Outcome{Faster, 1}
		}
	},
}

// The default preset of nvbench-compare-robust.
const (
	clearGap        = 0.005
	sameCenter      = 0.005
	sampleCoverage  = 0.97
	supportCoverage = 0.80
)

// nvbenchRobust requires a gap between the intervals from the minimum to the third quartile. Without a
// gap, the samples must cover each other to count as the same. Its confirmation in clock cycles is assumed
// to succeed: none of the data has clocks.
var nvbenchRobust = Method{
	Name: "NVBench, robust",
	Rule: "a gap of 0.5 % between minimum and third quartile",
	Ask: func(c Comparison) Outcome {
		b, n := samples(c, Base), samples(c, Candidate)
		gap := func(low, high stats.Sorted) bool {
			upper, lower := low.Quantile(0.75), high[0]
			return lower > upper && (lower-upper)/upper >= clearGap
		}
		switch {
		case len(b) == 0 || len(n) == 0:
			return Outcome{Abstains, 1}
		case gap(b, n):
			return Outcome{Slower, 1}
		case gap(n, b):
			return Outcome{Faster, 1}
		case covers(b, n) && covers(n, b):
			return Outcome{Nothing, 1}
		default:
			return Outcome{Abstains, 1}
		}
	},
}

// covers reports whether nearly all values have one of others close by, counted as samples and as
// distinct values.
func covers(others, values stats.Sorted) bool {
	within := math.Log1p(sameCenter)
	var samples, distinct, near, nearDistinct int
	for i := 0; i < len(values); {
		v := values[i]
		count := 1
		for i+count < len(values) && values[i+count] == v {
			count++
		}
		i += count
		samples, distinct = samples+count, distinct+1
		if nearest(others, v) <= within {
			near, nearDistinct = near+count, nearDistinct+1
		}
	}
	return float64(near) >= sampleCoverage*float64(samples) && float64(nearDistinct) >= supportCoverage*float64(distinct)
}

// nearest returns the distance from v to the closest of values, as a logarithm.
func nearest(values stats.Sorted, v float64) float64 {
	at := sort.SearchFloat64s(values, v)
	least := math.Inf(1)
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(values) {
			least = min(least, math.Abs(math.Log(v/values[i])))
		}
	}
	return least
}
