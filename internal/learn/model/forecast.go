package model

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// Forecast says what the next session should take and reach, from those before it in the
// order they were held. Without any it is the plan that sessions start from: four hours to
// 1.2x, give or take much.
func Forecast(past []Past) Outlook {
	var minutes, speedups []float64
	for _, p := range past {
		if usable(p.Minutes) {
			minutes = append(minutes, p.Minutes)
		}
		if usable(p.Speedup) {
			speedups = append(speedups, p.Speedup)
		}
	}
	return Outlook{
		Minutes: plannedMinutes.next(minutes),
		Speedup: plannedSpeedup.next(speedups),
		Basis:   len(minutes),
	}
}

// usable is whether a number was measured and can be meant.
func usable(x float64) bool { return x > 1e-3 && x < 1e6 }

// plan is what is held of a series before its first number, in logarithms: a level, a trend
// as a power of the session's number, and how much sessions differ.
type plan struct {
	first  float64 // expected of the first session
	spread float64 // standard deviation of sessions around their trend
	level  float64 // of the level around first, in spreads
	trend  float64 // of the trend around none, in spreads
	trust  float64 // in spread, in sessions
	fades  float64 // what a session counts for, one session later
}

var (
	plannedMinutes = plan{first: math.Log(240), spread: 0.3, level: 1.6, trend: 0.6, trust: 2, fades: 0.92}
	plannedSpeedup = plan{first: math.Log(1.2), spread: 0.1, level: 1.8, trend: 0.6, trust: 1.5, fades: 0.93}
)

// next forecasts a series: Bayesian regression of the logarithm on that of the session's
// number. Level, trend and spread are all unknown, which makes the forecast a Student-t.
// Old sessions fade, because people, kernels and machines change.
func (p plan) next(series []float64) Range {
	// The precision of (level, trend) in units of the spread, and the right side.
	a, b, d := 1/square(p.level), 0.0, 1/square(p.trend)
	var u, v, squares, count float64
	weight := 1.0
	for i, serie := range slices.Backward(series) {
		x, y := math.Log(float64(i+1)), math.Log(serie)-p.first
		a, b, d = a+weight, b+weight*x, d+weight*x*x
		u, v, squares = u+weight*y, v+weight*x*y, squares+weight*y*y
		count += weight
		weight *= p.fades
	}
	det := a*d - b*b
	level, trend := (d*u-b*v)/det, (a*v-b*u)/det
	x := math.Log(float64(len(series) + 1))
	mean := p.first + level + trend*x
	freedom := p.trust + count
	variance := (p.trust*square(p.spread) + squares - level*u - trend*v) / freedom
	wide := math.Sqrt(max(variance, 0)*(1+(d-2*b*x+a*x*x)/det)) * stats.TQuantile(0.9, freedom)
	return Range{Value: math.Exp(mean), Low: math.Exp(mean - wide), High: math.Exp(mean + wide)}
}
