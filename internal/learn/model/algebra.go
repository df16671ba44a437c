package model

import "math"

// The little linear algebra the model needs, on square matrices stored by rows of which the
// lower half counts.

// cholesky replaces a by its factor and returns the logarithm of a's determinant. What
// rounding made not positive is taken as next to nothing: the matrices here are sums of
// squares and a prior.
func cholesky(a []float64, n int) float64 {
	var logdet float64
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range i {
			other := a[j*n : j*n+j+1]
			row[j] = (row[j] - dot(row[:j], other[:j])) / other[j]
		}
		d := math.Sqrt(max(row[i]-dot(row[:i], row[:i]), 1e-300))
		row[i] = d
		logdet += 2 * math.Log(d)
	}
	return logdet
}

// forward solves L x = b in place.
func forward(l []float64, n int, b []float64) {
	for i := range n {
		row := l[i*n : i*n+i+1]
		b[i] = (b[i] - dot(row[:i], b[:i])) / row[i]
	}
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
