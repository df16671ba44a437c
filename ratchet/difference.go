package ratchet

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// difference is by how much the candidate is worse, as a logarithm, and how sure
// that is: Student's t with its standard error and degrees of freedom. Zero degrees of
// freedom mean that nothing is known.
type difference struct {
	n            int // rounds a side, or sessions
	mean, se, df float64
	spread       float64 // standard deviation of one round's difference
}

// above is the one-sided P against "at most this much worse": small if the
// candidate is worse than that.
func (d difference) above(shift float64) float64 { return d.tail((shift - d.mean) / d.se) }

// below is the one-sided P against "at least this much worse".
func (d difference) below(shift float64) float64 { return d.tail((d.mean - shift) / d.se) }

// tail is never 0: that nothing can have been chance is more than a test can say.
func (d difference) tail(t float64) float64 {
	if !d.known() || math.IsNaN(t) {
		return 1
	}
	return max(stats.TCDF(t, d.df), math.SmallestNonzeroFloat64)
}

func (d difference) known() bool { return d.df > 0 && d.se > 0 && !math.IsInf(d.se, 0) }

// interval holds the true difference with two-sided confidence of the level.
func (d difference) interval(level float64) (stats.Interval, bool) {
	if !d.known() {
		return stats.Interval{}, false
	}
	half := stats.TQuantile(1-(1-level)/2, d.df) * d.se
	return stats.Interval{Low: d.mean - half, High: d.mean + half}, true
}

// difference compares the first n rounds a side; all with n of 0.
func (e Evidence) difference(p Policy, n int) difference {
	if e.Paired {
		return e.pairedDifference(p, n)
	}
	return e.apartDifference(p)
}

func (e Evidence) pairedDifference(p Policy, n int) difference {
	base, candidate := e.pairs()
	if n > 0 && n < len(base) {
		base, candidate = base[:n], candidate[:n]
	}
	left, right := medians(base), medians(candidate)
	if e.sign() < 0 {
		left, right = right, left
	}
	t, err := stats.NewPaired(left, right, quantum(base, candidate))
	if err != nil || t.N < 2 {
		return difference{n: t.N, mean: t.Mean}
	}
	sd := t.SD
	if t.N < p.FewRounds {
		sd = max(sd, p.FewSpread)
	}
	// What the timer hides is part of the error, and not of how rounds differ.
	spread := t.Seen
	if t.N < p.FewRounds {
		spread = max(spread, p.FewSpread)
	}
	return difference{n: t.N, mean: t.Mean, se: sd / math.Sqrt(float64(t.N)), df: t.DF(), spread: max(spread, leastError)}
}

// apartDifference compares sides that were not measured together. Rounds of one
// session share what the machine was like then, so the unit is the session.
func (e Evidence) apartDifference(p Policy) difference {
	base, candidate := newSessions(e.Base), newSessions(e.Candidate)
	if base.n() == 0 || candidate.n() == 0 {
		return difference{}
	}
	b, c := base.spread(candidate, p), candidate.spread(base, p)
	d := difference{
		n:    min(len(e.Base), len(e.Candidate)),
		mean: e.sign() * (stats.Mean(candidate.logs) - stats.Mean(base.logs)),
	}
	vb, vc := b.sd*b.sd/float64(base.n()), c.sd*c.sd/float64(candidate.n())
	d.se = math.Sqrt(vb + vc)
	if b.borrowed || c.borrowed { // one estimate serves both sides
		d.df = min(b.df, c.df)
	} else { // Welch and Satterthwaite
		d.df = (vb + vc) * (vb + vc) / (vb*vb/b.df + vc*vc/c.df)
	}
	d.spread = math.Sqrt(b.sd*b.sd + c.sd*c.sd)
	return d
}

// sessions are the logarithms of a side, one a session: the mean over its rounds.
type sessions struct {
	logs   []float64
	within float64 // variance of a session's mean that its own rounds show, on average
	step   float64 // the timer's, as a share of the value
}

func newSessions(rounds []Round) sessions {
	var order []string
	logs := map[string][]float64{}
	var s sessions
	for _, r := range rounds {
		if !r.usable() {
			continue
		}
		if !slices.Contains(order, r.Session) {
			order = append(order, r.Session)
		}
		logs[r.Session] = append(logs[r.Session], math.Log(r.Median))
		s.step = max(s.step, r.Quantum/r.Median)
	}
	for _, name := range order {
		list := logs[name]
		s.logs = append(s.logs, stats.Mean(list))
		if len(list) > 1 {
			sd := stats.StdDev(list)
			s.within += sd * sd / float64(len(list)) / float64(len(order))
		}
	}
	return s
}

func (s sessions) n() int { return len(s.logs) }

// spreadOf is how much sessions of one side differ, and how well that is known.
type spreadOf struct {
	sd, df   float64
	borrowed bool
}

// assumedDF is how far a spread that is assumed, not measured, is trusted.
const assumedDF = 30

// spread is estimated from the side's own sessions where there are three, taken
// from the other side where that has enough, and otherwise assumed: sessions of the
// same code on the same card, recorded over two days, differed by 5 %.
func (s sessions) spread(other sessions, p Policy) spreadOf {
	floor := s.step / math.Sqrt(12)
	own := spreadOf{sd: max(stats.StdDev(s.logs), floor), df: float64(s.n() - 1)}
	if s.n() < p.FewRounds {
		own.sd = max(own.sd, p.FewSpread)
	}
	switch {
	case s.n() >= 3:
		return own
	case other.n() >= p.MinSessions:
		return spreadOf{sd: max(stats.StdDev(other.logs), floor), df: float64(other.n() - 1), borrowed: true}
	default:
		return spreadOf{sd: math.Sqrt(p.Apart*p.Apart + s.within), df: assumedDF}
	}
}
