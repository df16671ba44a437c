package search

import "math"

// gp is a Gaussian process that grows one point at a time. It keeps the Cholesky factor of
// its covariance; each point adds a row.
type gp struct {
	k      kernel
	noise  float64 // variance of the observations over that of the process
	points [][]uint16
	rows   [][]float64 // of the factor

	scratch [][]float64
}

// add appends a point and returns its row of the factor.
func (g *gp) add(point []uint16) []float64 {
	n := len(g.points)
	row, explained := g.row(point, n+1)
	row = append(row, math.Sqrt(max(1+g.noise-explained, 1e-8)))
	g.points = append(g.points, point)
	g.rows = append(g.rows, row)
	return row
}

// row returns the whitened covariances of a point with all others, and how much of its
// variance they explain.
func (g *gp) row(point []uint16, capacity int) (row []float64, explained float64) {
	g.scratch = g.k.of(point, g.scratch)
	row = make([]float64, len(g.points), max(capacity, len(g.points)))
	for j, p := range g.points {
		lj := g.rows[j]
		x := (common(g.scratch, p) - dot(row[:j], lj[:j])) / lj[j]
		row[j] = x
		explained += x * x
	}
	return row, explained
}

// whiten solves L z = y.
func (g *gp) whiten(y []float64) []float64 {
	z := make([]float64, len(y))
	for j := range y {
		lj := g.rows[j]
		z[j] = (y[j] - dot(z[:j], lj[:j])) / lj[j]
	}
	return z
}

// unwhiten solves L' a = z: the weights that turn covariances into predictions.
func (g *gp) unwhiten(z []float64) []float64 {
	a := append([]float64(nil), z...)
	for j := len(a) - 1; j >= 0; j-- {
		lj := g.rows[j]
		a[j] /= lj[j]
		for i := range j {
			a[i] -= a[j] * lj[i]
		}
	}
	return a
}

func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
