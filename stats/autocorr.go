package stats

// Autocorrelation is how much a series resembles itself lag steps later, from -1
// to 1. It divides by the length at every lag, as is usual: the sequence is then one that
// a process can have. A constant series resembles nothing: 0.
func Autocorrelation(x []float64, lag int) float64 {
	lag = max(lag, -lag)
	if lag >= len(x) {
		return 0
	}
	c := centred(x)
	if whole := c.product(0); whole > 0 {
		return c.product(lag) / whole
	}
	return 0
}

// longestLag bounds the work on long series.
const longestLag = 2000

// EffectiveSize is how many independent values tell as much about the mean as the
// series does. It adds autocorrelations in pairs of neighbouring lags until a pair is no
// longer positive (Geyer's initial positive sequence): for a reversible process every such
// pair is positive, so the first that is not is noise. Fitting one autoregressive
// coefficient would be simpler and is wrong for what clocks do, which is to jump between
// two speeds. At least 1, at most the length: what alternates is not counted as more.
func EffectiveSize(x []float64) float64 {
	n := float64(len(x))
	c := centred(x)
	whole := c.product(0)
	if !(whole > 0) {
		return n
	}
	time := -1.0 // how many values tell as much as one independent
	for lag := 0; lag+1 < min(len(x), longestLag); lag += 2 {
		pair := (c.product(lag) + c.product(lag+1)) / whole
		if pair <= 0 {
			break
		}
		time += 2 * pair
	}
	return n / min(max(time, 1), n)
}

// series is values in the order in which they were taken, less their mean.
type series []float64

func centred(x []float64) series {
	mean, _ := moments(x)
	c := make(series, len(x))
	for i, v := range x {
		c[i] = v - mean
	}
	return c
}

// product is the sum of the products of values that are lag apart.
func (s series) product(lag int) float64 {
	var sum float64
	for i, v := range s[lag:] {
		sum += v * s[i]
	}
	return sum
}
