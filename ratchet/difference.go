package ratchet

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// difference is how much worse the candidate is, as a logarithm, with its uncertainty: the standard error
// and degrees of freedom of Student's t. Zero degrees of freedom mean that nothing is known.
type difference struct {
	n            int // rounds per side, or sessions
	mean, se, df float64
	spread       float64 // standard deviation of the difference of one round

	hidden         float64 // variance hidden by the timer's step, added to that of the standard error
	varianceFactor float64 // factor on the variance because rounds resemble their neighbors; 0 means 1
	plain          float64 // mean including wild rounds
	outliers, slow int     // wild rounds, and those among them in which the candidate was slow
}

// above returns the one-sided p-value against "at most this much worse". It is small if the candidate is
// worse than that.
func (d difference) above(shift float64) float64 { return d.tail((shift - d.mean) / d.standardError()) }

// below returns the one-sided p-value against "at least this much worse".
func (d difference) below(shift float64) float64 { return d.tail((d.mean - shift) / d.standardError()) }

// standardError returns the total standard error of the mean.
func (d difference) standardError() float64 {
	return math.Sqrt(d.se*d.se*max(d.varianceFactor, 1) + d.hidden)
}

// tail is never 0: a test cannot rule out chance entirely.
func (d difference) tail(t float64) float64 {
	if !d.known() || math.IsNaN(t) {
		return 1
	}
	return max(stats.TCDF(t, d.df), math.SmallestNonzeroFloat64)
}

func (d difference) known() bool {
	return d.df > 0 && d.standardError() > 0 && !math.IsInf(d.standardError(), 0)
}

// interval returns the two-sided confidence interval of the true difference.
func (d difference) interval(level float64) (stats.Interval, bool) {
	if !d.known() {
		return stats.Interval{}, false
	}
	half := stats.TQuantile(1-(1-level)/2, d.df) * d.standardError()
	return stats.Interval{Low: d.mean - half, High: d.mean + half}, true
}

// pairs holds the rounds of two sides that were measured together.
type pairs struct {
	left, right []float64 // medians of base and candidate
	ratios      []float64 // log ratios; positive if the candidate is worse
	quantum     float64
}

func newPairs(p Policy, e Evidence) pairs {
	base, candidate := e.pairs()
	all := pairs{medians(base), medians(candidate), p.logRatios(base, candidate), quantum(base, candidate)}
	for i := range all.ratios {
		all.ratios[i] *= e.sign()
	}
	return all
}

// finiteLog returns the logarithm of a ratio. A ratio that overflows or underflows counts as the largest or smallest
// number, so that no statistic of it is NaN.
func finiteLog(ratio float64) float64 {
	return math.Log(min(max(ratio, math.SmallestNonzeroFloat64), math.MaxFloat64))
}

// difference compares the first n rounds.
func (all pairs) difference(p Policy, n int) difference {
	n = min(n, len(all.ratios))
	ratios := all.ratios[:n]
	t, err := stats.NewPaired(all.left[:n], all.right[:n], all.quantum)
	if err != nil || n < 2 {
		return difference{n: t.N, mean: t.Mean}
	}
	d := difference{n: n, mean: stats.Mean(ratios), df: t.DF(), spread: stats.StdDev(ratios), hidden: t.Hidden, varianceFactor: p.dependence().at(n)}
	d.plain = d.mean
	if n >= p.FewRounds && p.Edition >= secondEdition {
		d.trim(ratios, all.quantum/stats.Median(all.left[:n]))
	}
	d.se = d.spread / math.Sqrt(float64(n))
	if n < p.FewRounds { // together with hidden, the error is at least that of FewSpread
		d.se = max(d.se, math.Sqrt(max(p.FewSpread*p.FewSpread/float64(n)-d.hidden, 0)))
		d.spread = max(d.spread, p.FewSpread)
	}
	d.spread = max(d.spread, minError)
	return d
}

// logRatios returns the logarithms of candidate over base, one per round. If the sides took turns, the ratio
// of a round is the median of the ratios of adjacent turns: a machine that changes its speed within a round
// changes it for both sides.
func (p Policy) logRatios(base, candidate []Round) []float64 {
	list := make([]float64, len(base))
	for i, b := range base {
		c := candidate[i]
		turns := min(len(b.Turns), len(c.Turns))
		if p.Edition < secondEdition || turns < 2 {
			list[i] = finiteLog(c.Median / b.Median)
			continue
		}
		ratios := make([]float64, turns)
		for k := range ratios {
			ratios[k] = c.Turns[k] / b.Turns[k]
		}
		list[i] = finiteLog(stats.Median(ratios))
	}
	return list
}

// A round is wild if it is further from the median than outlierSDs robust standard deviations, where a standard
// deviation counts as at least minSpread. If there are wild rounds, only the middle half of the rounds
// counts. The values were chosen on recorded and simulated rounds; docs/lab/judge.md lists alternatives.
const (
	outlierSDs = 4
	minSpread  = 0.0025
	trimmed    = 0.25
)

// trim uses the mean of the middle half if there are wild rounds, which would dominate Student's t. step is
// the timer's step relative to the time.
func (d *difference) trim(list []float64, step float64) {
	middle := stats.Median(list)
	far := outlierSDs * max(stats.RobustSD(list), minSpread, step)
	for _, v := range list {
		if math.Abs(v-middle) > far {
			d.outliers++
			if v > middle {
				d.slow++
			}
		}
	}
	if d.outliers > 0 {
		t := stats.NewTrimmed(list, trimmed)
		d.mean, d.df, d.spread = t.Mean, t.DF(), t.SE*math.Sqrt(float64(t.N))
	}
}

// CountOutliers returns the number of log ratios that the judge treats as wild.
func CountOutliers(ratios []float64) int {
	var d difference
	d.trim(ratios, 0)
	return d.outliers
}

// masksSlowdown reports whether the trimmed mean would hide a candidate that is slow in some rounds only: the mean
// of all rounds is over the limit, and the wild rounds are mostly the candidate's. The machine would hit
// both sides.
func (d difference) masksSlowdown(limit float64) bool {
	return d.plain >= limit && d.outliers > 0 && headsOrMore(d.slow, d.outliers) < 0.1
}

// headsOrMore returns the chance of at least the given number of heads in throws of a fair coin.
func headsOrMore(heads, throws int) float64 {
	var sum float64
	for k := range throws + 1 {
		if k >= heads {
			sum += math.Exp(choose(throws, k) - float64(throws)*math.Ln2)
		}
	}
	return sum
}

// choose returns the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// apartDifference compares sides that were not measured together. Rounds of one session share the state of
// the machine at that time, so the unit is the session.
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
	if b.borrowed || c.borrowed { // both sides share one estimate
		d.df = min(b.df, c.df)
	} else { // Welch-Satterthwaite
		d.df = (vb + vc) * (vb + vc) / (vb*vb/b.df + vc*vc/c.df)
	}
	d.spread = math.Sqrt(b.sd*b.sd + c.sd*c.sd)
	return d
}

// maxMachineP is the largest p-value against "the machine is slower by Apart today" at which sides that
// were not measured together can support a claim.
const maxMachineP = 0.005

// claimApart returns the p-value of a claim between such sides. It combines the p-values against no
// difference (none) and against a difference that the machine could cause (machine). However quiet the
// sessions were, the machine can be slower today than in all of them, and only a reference shows by how
// much. The result is at most Alpha if both p-values are small enough.
func (p Policy) claimApart(e Evidence, none, machine float64) float64 {
	if p.Edition < secondEdition || e.Reference != "" {
		return none
	}
	return min(max(none, machine*p.Alpha/maxMachineP), 1)
}

// sessions holds the logarithms of a side, one per session: the mean over its rounds.
type sessions struct {
	logs   []float64
	within float64 // average variance of a session's mean, estimated from its own rounds
	step   float64 // timer step relative to the value
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

// spreadOf is the spread between sessions of one side, and how well it is known.
type spreadOf struct {
	sd, df   float64
	borrowed bool
}

// assumedDF is the degrees of freedom given to an assumed spread.
const assumedDF = 30

// spread estimates the spread from the side's own sessions if there are three. Otherwise it uses that of the
// other side if that has enough, or else Policy.Apart: sessions of the same code on the same card, recorded
// over two days, differed by 5 %.
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
