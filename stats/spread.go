package stats

import "math"

// Mean returns the arithmetic mean, or NaN for no values.
func Mean(x []float64) float64 {
	mean, _ := moments(x)
	return mean
}

// StdDev returns the sample standard deviation (n-1), or NaN for fewer than two values.
func StdDev(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	_, squares := moments(x)
	return math.Sqrt(squares / float64(len(x)-1))
}

// moments returns the mean and the sum of squared distances from it. It sums differences from the first
// value, so that equal values have exactly no spread. A plain sum of ten times 0.1 would leave some,
// and a test would divide by it.
func moments(x []float64) (mean, squares float64) {
	if len(x) == 0 {
		return math.NaN(), 0
	}
	var sum float64
	for _, v := range x {
		sum += v - x[0]
	}
	mean = x[0] + sum/float64(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}

// CV returns the coefficient of variation: the standard deviation divided by the mean.
func CV(x []float64) float64 { return StdDev(x) / Mean(x) }

// MAD returns the median absolute deviation: the median distance from the median.
func MAD(x []float64) float64 {
	median := Median(x)
	distance := make([]float64, len(x))
	for i, v := range x {
		distance[i] = math.Abs(v - median)
	}
	return Median(distance)
}

// RobustSD estimates the standard deviation of normal data from their MAD, which is robust to a few
// outliers.
func RobustSD(x []float64) float64 { return normalMAD * MAD(x) }

// normalMAD scales a MAD to the standard deviation of normal data.
const normalMAD = 1.4826
