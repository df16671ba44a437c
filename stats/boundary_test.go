package stats

import "math"

// Boundaries returns the z-values that a normal test statistic must exceed at each look, so that the
// chance of crossing there for the first time is alpha times the look's share. Unlike SpendingP, it
// takes into account that looks at growing data are correlated. A look without a share has an
// infinite boundary. Boundaries returns nil if the looks do not increase or if the numbers of looks
// and shares differ.
//
// It assumes normal increments of known variance, and looks that grow by a percent or more. With few
// rounds the variance is unknown and t has long tails, so pawl decides by SpendingP, which needs
// neither assumption. Boundaries shows the cost of that choice: with an alpha of 0.001 spent as 5, 20,
// 30 and 45 % on looks at 4, 8, 16 and 32 rounds, SpendingP has a false alarm rate of 0.0009. With an
// alpha of 0.05 it would be 0.039.
func Boundaries(alpha float64, looks []int, shares []float64) []float64 {
	if !increasing(looks) || len(shares) != len(looks) {
		return nil
	}
	var path path
	bounds := make([]float64, len(looks))
	for k, n := range looks {
		bounds[k] = path.boundary(float64(n), alpha*shares[k])
		path.extend(float64(n), bounds[k])
	}
	return bounds
}

// Crossing returns the chance that a normal test statistic without a true shift exceeds its boundary
// at one of the looks. It returns NaN if the looks do not increase or if the numbers of looks and
// bounds differ.
func Crossing(looks []int, bounds []float64) float64 {
	if !increasing(looks) || len(bounds) != len(looks) {
		return math.NaN()
	}
	var path path
	var sum float64
	for k, n := range looks {
		sum += path.crossing(float64(n), bounds[k])
		path.extend(float64(n), bounds[k])
	}
	return sum
}

const (
	reach     = 8.0 // half-width of the integration grid, in standard errors
	gridSteps = 400 // must be even, for Simpson's rule
)

// path is the density of the test statistic after its past looks, given that it never crossed,
// computed by the recursion of Armitage, McPherson and Rowe. Mass includes the integration weights.
type path struct {
	n    float64 // data size at the last look; 0 before the first
	z    []float64
	mass []float64
}

// boundary returns the z that is exceeded at n with the given chance, without an earlier crossing.
func (p *path) boundary(n, chance float64) float64 {
	if !(chance > 0) {
		return math.Inf(1)
	}
	lo, hi := -reach, 38.0 // at 38 the normal tail reaches the smallest float64
	for range 60 {
		if mid := (lo + hi) / 2; p.crossing(n, mid) > chance {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// crossing returns the chance of exceeding z at n without an earlier crossing.
func (p *path) crossing(n, z float64) float64 {
	if p.n == 0 {
		return NormalCDF(-z)
	}
	var sum float64
	step := math.Sqrt(n - p.n)
	for i, before := range p.z {
		sum += p.mass[i] * NormalCDF((before*math.Sqrt(p.n)-z*math.Sqrt(n))/step)
	}
	return sum
}

// extend adds a look that was not crossed.
func (p *path) extend(n, bound float64) {
	top := max(min(bound, reach), -reach)
	width := (top + reach) / gridSteps
	next := path{n, make([]float64, gridSteps+1), make([]float64, gridSteps+1)}
	for i := range next.z {
		z := -reach + float64(i)*width
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == gridSteps {
			weight = 1
		}
		next.z[i], next.mass[i] = z, p.density(n, z)*weight*width/3
	}
	*p = next
}

func (p *path) density(n, z float64) float64 {
	if p.n == 0 {
		return normalDensity(z)
	}
	var sum float64
	step := math.Sqrt(n - p.n)
	for i, before := range p.z {
		sum += p.mass[i] * normalDensity((z*math.Sqrt(n)-before*math.Sqrt(p.n))/step)
	}
	return sum * math.Sqrt(n) / step
}
