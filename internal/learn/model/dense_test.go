package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The model solved another way: as one normal distribution over gains, without unknowns.
// Two gains vary together by what they have in common.
func covariance(s scales, ua, ub float64, a, b place, pa, pb float64, ca, cb []Claim) float64 {
	v := square(levelSpread) + square(ruleTrustSpread)*pa*pb
	if a.Fix == b.Fix {
		v += square(s.fix)*ua*ub + square(s.slope)*pa*pb
		if a.Class == b.Class {
			v += square(s.class) * ua * ub
		}
		if a.GPU == b.GPU {
			v += square(s.gpu) * ua * ub
		}
	}
	if a.Class == b.Class {
		v += square(levelSpread)
	}
	if a.GPU == b.GPU {
		v += square(levelSpread)
	}
	for _, x := range ca {
		for _, y := range cb {
			if x.Lesson == y.Lesson {
				v += square(lessonTrustSpread) * (x.Gain - ruleTrust*pa) / float64(len(ca)) * (y.Gain - ruleTrust*pb) / float64(len(cb))
			}
		}
	}
	if a.Kernel == b.Kernel {
		v += s.kernel * square(s.noise) * ua * ub
		if a.Key == b.Key {
			v += (1 - s.kernel) * square(s.noise) * ua * ub
		}
	}
	return v
}

func before(p float64, claims []Claim) float64 {
	y := ruleTrust * p
	for _, c := range claims {
		y += lessonTrust * (c.Gain - ruleTrust*p) / float64(len(claims))
	}
	return y
}

// dense answers for places, by Gauss elimination: gains, their covariances, the evidence.
func dense(f *fit, s scales, list []cell, weights []float64, at []cell) (means []float64, cov [][]float64, evidence float64) {
	unit := func(c cell) float64 { return f.unit(c.prior, c.claims) }
	n := len(list)
	v := make([][]float64, n)
	for i, a := range list {
		v[i] = make([]float64, n+1+len(at))
		for j, b := range list {
			v[i][j] = covariance(s, unit(a), unit(b), a.place, b.place, a.prior, b.prior, a.claims, b.claims)
		}
		v[i][i] += f.scatter(i, weights[i]) - (1-s.kernel)*square(s.noise*unit(a))
		v[i][n] = a.gain - before(a.prior, a.claims)
		for j, b := range at {
			v[i][n+1+j] = covariance(s, unit(a), unit(b), a.place, b.place, a.prior, b.prior, a.claims, b.claims)
		}
	}
	right := make([][]float64, n)
	for i := range v {
		right[i] = append([]float64(nil), v[i][n:]...)
	}
	// Forward and backward at once; the pivots' product is the determinant.
	for i := range n {
		evidence -= math.Log(v[i][i]) / 2
		pivot := v[i][i]
		for k := range v[i] {
			v[i][k] /= pivot
		}
		for j := range n {
			if j == i {
				continue
			}
			f := v[j][i]
			for k := range v[j] {
				v[j][k] -= f * v[i][k]
			}
		}
	}
	for i := range n {
		evidence -= right[i][0] * v[i][n] / 2
	}
	cov = make([][]float64, len(at))
	for j, b := range at {
		mean := before(b.prior, b.claims)
		for i := range n {
			mean += right[i][1+j] * v[i][n]
		}
		means = append(means, mean)
		cov[j] = make([]float64, len(at))
		for l, o := range at {
			cov[j][l] = covariance(s, unit(b), unit(o), b.place, o.place, b.prior, o.prior, b.claims, o.claims)
			for i := range n {
				cov[j][l] -= right[i][1+j] * v[i][n+1+l]
			}
		}
	}
	return means, cov, evidence
}

func randomCell(r *rand.Rand, kernels int) cell {
	c := cell{
		place:    place{Key{fmt.Sprint("fix", r.IntN(5)), fmt.Sprint("class", r.IntN(3)), fmt.Sprint("gpu", r.IntN(2))}, fmt.Sprint("kernel", r.IntN(kernels))},
		n:        1,
		gain:     0.2 * r.NormFloat64(),
		variance: square(0.01 + 0.05*r.Float64()),
		prior:    0.3 * r.Float64(),
	}
	for _, l := range r.Perm(3)[:r.IntN(3)] {
		c.claims = append(c.claims, Claim{fmt.Sprint("lesson", l), r.Float64() - 0.3})
	}
	return c
}

func TestSolveAgreesWithDense(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := scales{fix: 0.01 + 0.2*r.Float64(), slope: 0.5 * r.Float64(), class: 0.01 + 0.1*r.Float64(), gpu: 0.01 + 0.1*r.Float64(), noise: 0.02 + 0.2*r.Float64(), kernel: 0.9 * r.Float64()}
		s.slope += 0.01
		var list []cell
		var weights []float64
		places := map[place]bool{}
		for range r.IntN(40) {
			c := randomCell(r, 1+r.IntN(30))
			if places[c.place] {
				continue
			}
			places[c.place] = true
			list, weights = append(list, c), append(weights, 0.2+r.Float64())
		}
		var at []cell
		for len(at) < 6 {
			c := randomCell(r, 40)
			if r.IntN(2) == 0 && len(list) > 0 {
				c.place = list[r.IntN(len(list))].place // tried here before
			}
			c.Kernel = "kernel0"
			if len(at) > 0 {
				c.Kernel = at[0].Kernel // candidates are of one kernel
			}
			at = append(at, c)
		}
		f := newDesign(list, seed%2 == 0).solve(s, weights)
		means, cov, evidence := dense(f, s, list, weights, at)
		if math.Abs(f.evidence-evidence) > 1e-8*(1+math.Abs(evidence)) {
			t.Errorf("seed %d: evidence %v, dense says %v", seed, f.evidence, evidence)
		}
		for i, c := range at {
			g := f.guess(c.place, c.prior, c.claims)
			if math.Abs(g.mean-means[i]) > 1e-9 {
				t.Errorf("seed %d: %+v expects %v, dense says %v", seed, c.place, g.mean, means[i])
			}
			if math.Abs(g.variance()-cov[i][i]) > 1e-9 {
				t.Errorf("seed %d: %+v has variance %v, dense says %v", seed, c.place, g.variance(), cov[i][i])
			}
		}
	}
}
