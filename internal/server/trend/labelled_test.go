package trend_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// labelled is a history of which the truth is known.
type labelled struct {
	values []float64
	truth  []truth
	noise  float64 // standard deviation of one point around its level, in logarithms
}

// truth is a step at a point, or a drift from a point to another.
type truth struct {
	kind     trend.Kind
	at, last int
	size     float64 // in logarithms
}

// due reports whether a finder should report it.
func (x truth) due(noise float64) bool { return math.Abs(x.size) >= 2*noise }

// kinds are what histories suffer from.
var kinds = []string{
	"normal", "uneven", "lognormal", "Pareto", "outliers", "bursts", "two modes", "sticky mode", "coarse timer",
	"AR 0.3", "AR 0.5", "AR 0.7", "wander", "creep", "ramp",
}

// correlations are those of the autoregressive kinds.
var correlations = map[string]float64{"AR 0.3": 0.3, "AR 0.5": 0.5, "AR 0.7": 0.7}

// disturbance returns n values of noise of a kind, with mean 0 and standard deviation 1.
func disturbance(kind string, n int, r *rand.Rand) []float64 {
	e := make([]float64, n)
	scale, slow := 0.5, false
	wander := r.NormFloat64()
	for i := range e {
		z := r.NormFloat64()
		switch kind {
		case "uneven": // the spread changes between 0.5 and 1.32, every 50 points or so
			if r.IntN(50) == 0 {
				scale = 1.82 - scale
			}
			z *= scale
		case "lognormal":
			z = (math.Exp(0.8*z) - 1.3771) / 1.3037
		case "Pareto": // with the exponent 2.2, which has hardly a variance
			z = (math.Pow(1-r.Float64(), -1/2.2) - 1.8333) / 2.7639
		case "two modes", "sticky mode": // a third of the points is slower by four times the noise
			if kind == "two modes" {
				slow = r.IntN(3) == 0
			} else if leave := map[bool]int{false: 8, true: 4}[slow]; r.IntN(leave) == 0 {
				slow = !slow
			}
			if slow {
				z += 4
			}
			z = (z - 4.0/3) / 2.1344
		case "wander": // a fifth of the variance comes and goes within 20 points or so
			wander = 0.95*wander + math.Sqrt(1-0.95*0.95)*r.NormFloat64()
			z = math.Sqrt(0.8)*z + math.Sqrt(0.2)*wander
		default:
			if a := correlations[kind]; a > 0 && i > 0 {
				z = a*e[i-1] + math.Sqrt(1-a*a)*z
			}
		}
		e[i] = z
	}
	return e
}

// newLabelled returns a history of 120 to 400 points with noise of 0.5 to 2 %. One in four is quiet. The
// others have up to three steps of 2 to 20 %, at least 20 points apart; or a creep of 3 to 13 % over the
// whole; or a ramp of that size between two levels.
func newLabelled(kind string, r *rand.Rand) labelled {
	n := 120 + r.IntN(280)
	l := labelled{noise: []float64{0.005, 0.01, 0.02}[r.IntN(3)]}
	if r.IntN(4) > 0 {
		l.truth = newTruth(kind, n, r)
	}
	l.values = l.over(disturbance(kind, n, r))
	if kind == "outliers" || kind == "bursts" {
		disturb(kind, l.values, r)
	}
	if kind == "coarse timer" {
		const tick = 2e4 // 2 % of the first level
		for i, v := range l.values {
			l.values[i] = tick * math.Round(v/tick)
		}
	}
	return l
}

// over returns the history with the given noise.
func (l labelled) over(noise []float64) []float64 {
	values := make([]float64, len(noise))
	for i, e := range noise {
		level := math.Log(1e6)
		for _, x := range l.truth {
			switch {
			case i < x.at:
			case i >= x.last:
				level += x.size
			default:
				level += x.size * float64(i-x.at) / float64(x.last-x.at)
			}
		}
		values[i] = math.Exp(level + l.noise*e)
	}
	return values
}

func newTruth(kind string, n int, r *rand.Rand) []truth {
	sign := func(size float64) float64 {
		if r.IntN(2) == 0 {
			return -size
		}
		return size
	}
	switch kind {
	case "creep":
		return []truth{{trend.Drift, 0, n - 1, sign(math.Log(1.03 + 0.1*r.Float64()))}}
	case "ramp":
		long := 40 + r.IntN(n/2-40)
		at := 20 + r.IntN(n-long-40)
		return []truth{{trend.Drift, at, at + long, sign(math.Log(1.03 + 0.1*r.Float64()))}}
	}
	var list []truth
	for at := 20 + r.IntN(60); at < n-20 && len(list) < 3; at += 20 + r.IntN(120) {
		list = append(list, truth{trend.Step, at, at, sign(math.Log(1.02 + 0.18*r.Float64()))})
	}
	return list
}

// disturb makes points slower: one in 20 by 20 to 100 %, or two neighbors in every 16 by 30 %.
func disturb(kind string, values []float64, r *rand.Rand) {
	slow := 0
	for i := range values {
		if i%16 == 0 {
			slow = i + r.IntN(15)
		}
		switch {
		case kind == "outliers" && r.IntN(20) == 0:
			values[i] *= 1.2 + 0.8*r.Float64()
		case kind == "bursts" && (i == slow || i == slow+1):
			values[i] *= 1.3
		}
	}
}

// told is an event as a finder reported it.
type told struct {
	kind        trend.Kind
	first, last int
	up          bool
}

// right reports whether an event is one that there is: a step within two points, a drift at least half of
// whose range is inside.
func (e told) right(x truth) bool {
	if e.kind != x.kind || e.up != (x.size > 0) {
		return false
	}
	if e.kind == trend.Step {
		return max(e.first-x.at, x.at-e.first) <= 2
	}
	return 2*(min(e.last, x.last)-max(e.first, x.at)) >= e.last-e.first
}

// same reports whether two reports are of one event, which may move by ten points as more arrive.
func (e told) same(o told) bool {
	if e.kind != o.kind || e.up != o.up {
		return false
	}
	if e.kind == trend.Drift && e.first <= o.last && o.first <= e.last {
		return true
	}
	return max(e.first-o.first, o.first-e.first) <= 10
}

// account is what a finder reported of a history, looked at after every point.
type account struct {
	first []told // as first reported
	now   []told // as reported last
	when  []int  // number of points at the first report
	gone  []bool // not among the events of the last look
}

// hear takes what is reported after n points.
func (a *account) hear(n int, list []told) {
	for i := range a.gone {
		a.gone[i] = true
	}
	for _, e := range list {
		i := -1
		for k := range a.now { // exactly the same first
			if a.gone[k] && a.now[k].same(e) && (i < 0 || a.now[k].first == e.first) {
				i = k
			}
		}
		if i < 0 {
			a.first, a.now, a.when, a.gone = append(a.first, e), append(a.now, e), append(a.when, n), append(a.gone, false)
			continue
		}
		a.now[i], a.gone[i] = e, false
	}
}

// score counts what a finder reported at the moment it did, and what it should have.
type score struct {
	told, right, due, found, gone int
	series, alarmed               int   // histories, and those with something that is wrong
	waits                         []int // points from a step to its report
}

func (s *score) add(l labelled, a account) {
	s.series++
	found, wrong := make([]bool, len(l.truth)), false
	for i, e := range a.first {
		s.told++
		if a.gone[i] {
			s.gone++
		}
		k := slices.IndexFunc(l.truth, e.right)
		if k < 0 {
			wrong = true
			continue
		}
		s.right++
		if !found[k] && e.kind == trend.Step {
			s.waits = append(s.waits, a.when[i]-l.truth[k].at)
		}
		found[k] = true
	}
	if wrong {
		s.alarmed++
	}
	for k, x := range l.truth {
		if x.due(l.noise) {
			s.due++
			if found[k] {
				s.found++
			}
		}
	}
}

func (s *score) sum(o score) {
	s.told += o.told
	s.right += o.right
	s.due += o.due
	s.found += o.found
	s.gone += o.gone
	s.series += o.series
	s.alarmed += o.alarmed
	s.waits = append(s.waits, o.waits...)
}

func (s *score) precision() float64 { return float64(s.right) / max(1, float64(s.told)) }
func (s *score) recall() float64    { return float64(s.found) / max(1, float64(s.due)) }

// wait returns the median number of points from a step to its report.
func (s *score) wait() int {
	if len(s.waits) == 0 {
		return 0
	}
	slices.Sort(s.waits)
	return s.waits[len(s.waits)/2]
}
