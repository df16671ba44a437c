package stats

import "math"

// Mean is the arithmetic mean; NaN of nothing.
func Mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// StdDev is the sample standard deviation (n-1); NaN of fewer than two values.
func StdDev(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	mean := Mean(x)
	var sum float64
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// CV is the coefficient of variation: standard deviation over mean.
func CV(x []float64) float64 { return StdDev(x) / Mean(x) }

// MAD is the median distance from the median. Times 1.4826 it estimates the
// standard deviation of normal data and, unlike it, is not moved by a few wild samples.
func MAD(x []float64) float64 {
	median := Median(x)
	distance := make([]float64, len(x))
	for i, v := range x {
		distance[i] = math.Abs(v - median)
	}
	return Median(distance)
}

// normalMAD scales a MAD to the standard deviation of normal data.
const normalMAD = 1.4826
