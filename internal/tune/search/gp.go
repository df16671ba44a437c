package search

import "math"

// gp is a Gaussian process over the points of a space that grows by one point at a
// time. The Cholesky factor of its covariance is kept, and the rows of candidates
// against it, so that one more point costs one column and not a new factorisation.
type gp struct {
	k      kernel
	noise  float64 // variance of the observations over that of the process
	points [][]uint16
	l      [][]float64 // rows of the factor
}

// add appends a point and gives the new row of the factor.
func (g *gp) add(point []uint16) []float64 {
	n := len(g.points)
	row := make([]float64, n+1)
	for j, p := range g.points {
		row[j] = g.k.at(point, p)
	}
	diagonal := 1 + g.noise - g.solveRow(row[:n])
	row[n] = math.Sqrt(max(diagonal, 1e-8))
	g.points = append(g.points, point)
	g.l = append(g.l, row)
	return row
}

// solveRow turns covariances with the points into the row of the factor, in place,
// and gives its squared length: what the points explain of the variance.
func (g *gp) solveRow(row []float64) float64 {
	sum := 0.0
	for j := range row {
		lj := g.l[j]
		x := (row[j] - dot(row[:j], lj[:j])) / lj[j]
		row[j] = x
		sum += x * x
	}
	return sum
}

// whiten solves L z = y.
func (g *gp) whiten(y []float64) []float64 {
	z := make([]float64, len(y))
	for j := range y {
		lj := g.l[j]
		z[j] = (y[j] - dot(z[:j], lj[:j])) / lj[j]
	}
	return z
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
