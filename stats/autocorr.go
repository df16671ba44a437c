package stats

// Autocorrelation returns the correlation of a series with itself lag steps later, from -1 to 1.
// It divides by the full length at every lag, as is usual, so that the result is a valid
// autocorrelation sequence. For a constant series it returns 0.
func Autocorrelation(x []float64, lag int) float64 {
	lag = max(lag, -lag)
	if lag >= len(x) {
		return 0
	}
	c := centered(x)
	if whole := c.product(0); whole > 0 {
		return c.product(lag) / whole
	}
	return 0
}

// maxLag limits the work on long series.
const maxLag = 2000

// EffectiveSize returns the number of independent values that would estimate the mean as well as the
// series does. It adds autocorrelations in pairs of neighboring lags until a pair is no longer
// positive (Geyer's initial positive sequence). For a reversible process every such pair is positive,
// so the first one that is not must be noise. Fitting a single autoregressive coefficient would be
// simpler but wrong for clocks, which jump between two speeds. The result is at least 1 and at most
// the length: an alternating series does not count as more.
func EffectiveSize(x []float64) float64 {
	n := float64(len(x))
	c := centered(x)
	whole := c.product(0)
	if !(whole > 0) {
		return n
	}
	time := -1.0 // number of values worth one independent value
	for lag := 0; lag+1 < min(len(x), maxLag); lag += 2 {
		pair := (c.product(lag) + c.product(lag+1)) / whole
		if pair <= 0 {
			break
		}
		time += 2 * pair
	}
	return n / min(max(time, 1), n)
}

// series holds values in the order they were taken, minus their mean.
type series []float64

func centered(x []float64) series {
	mean, _ := moments(x)
	c := make(series, len(x))
	for i, v := range x {
		c[i] = v - mean
	}
	return c
}

// product returns the sum of the products of values that are lag apart.
func (s series) product(lag int) float64 {
	var sum float64
	for i, v := range s[lag:] {
		sum += v * s[i]
	}
	return sum
}
