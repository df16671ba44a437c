package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// leastSquares returns the sum of squared residuals of a regression on columns, by Gram and Schmidt, and the
// coefficient of the last column.
func leastSquares(y []float64, columns [][]float64) (rss, last float64) {
	e := append([]float64(nil), y...)
	var done [][]float64
	for _, c := range columns {
		c = append([]float64(nil), c...)
		for range 2 { // twice is enough for rounding
			for _, d := range done {
				project(c, d)
			}
		}
		last = dot(e, c) / dot(c, c)
		project(e, c)
		done = append(done, c)
	}
	return dot(e, e), last
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// project removes from a what b explains of it.
func project(a, b []float64) {
	f := dot(a, b) / dot(b, b)
	for i := range a {
		a[i] -= f * b[i]
	}
}

// The candidates are those of a regression with each step and each bend in turn.
func TestCandidatesAreThoseOfRegressions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for try := range 200 {
		n := 9 + r.IntN(60)
		sloped := try%2 == 0
		y, one, x := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range y {
			y[i] = 13 + 0.01*r.NormFloat64() + 0.002*float64(i)*r.Float64()
			one[i], x[i] = 1, float64(i)
		}
		model := [][]float64{one}
		if sloped {
			model = append(model, x)
		}
		p := newPart(y, 0, sloped)
		rss, _ := leastSquares(y, model)
		if math.Abs(p.rss-rss) > 1e-9*rss {
			t.Fatalf("residuals %v, want %v", p.rss, rss)
		}
		step, bend := p.candidates()
		for _, c := range []candidate{step, bend} {
			best, at, size := 0.0, 0, 0.0
			for k := range n {
				z := make([]float64, n)
				for i := k; i < n; i++ {
					z[i] = 1
					if c.bend {
						z[i] = float64(i - k)
					}
				}
				if !c.bend && k == 0 || c.bend && (n-k < minBend || sloped && k == 0) {
					continue
				}
				with, coefficient := leastSquares(y, append(slices.Clip(model), z))
				if rss-with > best {
					best, at, size = rss-with, k, coefficient
				}
			}
			if c.at != at || math.Abs(c.gain-best) > 1e-6*rss || math.Abs(c.size-size) > 1e-6*math.Abs(size) {
				t.Fatalf("%d values, sloped %v: %+v, want gain %v at %d, size %v", n, sloped, c, best, at, size)
			}
		}
	}
}

// On noise in which neighbors depend on each other, a p-value below a limit is as frequent as it says, at a
// place that was chosen in advance.
func TestPValuesHoldUnderDependence(t *testing.T) {
	for _, a := range []float64{0, 0.5, 0.7} {
		r := rand.New(rand.NewPCG(6, 6))
		const tries, limit = 4000, 0.05
		below := 0
		for range tries {
			const n, at = 150, 120
			y := make([]float64, n)
			for i := range y {
				y[i] = r.NormFloat64()
				if i > 0 {
					y[i] = a*y[i-1] + math.Sqrt(1-a*a)*y[i]
				}
			}
			p := newPart(y, 0, false)
			c := candidate{at: at, regressor: newRegressor(n, at, false, false)}
			for i := at; i < n; i++ {
				c.size += (y[i] - p.mean) / c.norm
			}
			if value, _ := (pool{}).test(p, c); value < limit {
				below++
			}
		}
		t.Logf("correlation %.1f: %.1f %% of p-values are below %.0f %%", a, 100*float64(below)/tries, 100*limit)
		if below > tries*7/100 || below < tries*1/100 {
			t.Errorf("correlation %.1f: %d of %d p-values are below %.2f", a, below, tries, limit)
		}
	}
}

// The p-values are those of NumPy and SciPy, computed with the whole covariance matrix of the noise.
func TestPValuesAreSciPys(t *testing.T) {
	for _, c := range []struct {
		n, at        int
		bend, sloped bool
		value, unit  float64
	}{
		{60, 40, false, false, 1.29494690735e-08, 5.96898366112e-05},
		{60, 40, false, true, 0.000252011918648, 6.21965759745e-05},
		{90, 30, true, false, 1.82652214466e-18, 7.53422449437e-05},
		{90, 50, true, true, 0.0010069136235, 7.87637322655e-05},
	} {
		y := make([]float64, c.n)
		for i := range y {
			y[i] = 13 + 0.01*math.Sin(float64(i*i)) + 0.004*math.Sin(float64(i)/3)
			switch {
			case i < c.at:
			case c.bend:
				y[i] += 0.0005 * float64(i-c.at)
			default:
				y[i] += 0.012
			}
		}
		p := newPart(y, 0, c.sloped)
		x := candidate{bend: c.bend, at: c.at, regressor: newRegressor(float64(c.n), float64(c.at), c.bend, c.sloped)}
		for i, v := range y {
			x.size += (v - p.line(i)) * x.value(p, i) / x.norm
		}
		value, unit := (pool{}).test(p, x)
		if math.Abs(value/c.value-1) > 1e-6 || math.Abs(unit/c.unit-1) > 1e-9 {
			t.Errorf("%+v: p %.12g, unit %.12g", c, value, unit)
		}
	}
}
