package ratchet

import (
	"cmp"
	"math"
	"sync"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// judgement returns the public result of a case.
func (s *caseAnalysis) judgement(p Policy) Judgment {
	j := Judgment{
		Name: s.Case.Name(), CaseKey: s.Case, Verdict: s.verdict, Ratchet: s.move, Gate: s.Gate, Reported: s.Reported, Limit: s.Limit, Quarantine: s.Quarantine, Unchanged: s.Unchanged, Cause: s.cause,
	}
	if s.Quarantine != "" { // its numbers are not trusted
		j.Ratchet = Holds
	}
	if s.why == redefined || s.why == tooGood {
		j.Needs = "accept"
	}
	if s.tested() && len(s.Base) > 0 && len(s.Candidate) > 0 {
		j.Facts = s.facts(p)
		j.Watch = watch(*j.Facts)
	}
	j.Sentence = s.sentence(j.Facts)
	return j
}

func (s *caseAnalysis) facts(p Policy) *Facts {
	base, candidate := s.Base, s.Candidate
	if s.Paired && s.by == byRatio {
		base, candidate = s.pairs()
	}
	old, now := all(base), all(candidate)
	q := quantum(base, candidate)
	delta := now.Cliff(old)
	f := &Facts{
		Rounds: s.rounds, Pairing: s.pairing(), Rule: string(s.by), Unit: s.Unit, Better: cmp.Or(s.Better, measure.Lower),
		Base: newSide(base, old, q), Now: newSide(candidate, now, q),
		Change: number(math.Expm1(s.sign() * s.mean)),
		Slower: s.slower, Faster: s.faster, Kept: s.kept, Holm: s.holm,
		Delta: number(delta), Effect: stats.EffectOf(delta),
		MannWhitney: number(now.MannWhitney(old, stats.TwoSided).P),
		Wilcoxon:    1,
	}
	if s.Paired && s.by == byRatio {
		f.Wilcoxon = stats.WilcoxonExact(p.logRatios(base, candidate), stats.TwoSided).P
	}
	if i, ok := s.interval(0.95); ok {
		low, high := math.Expm1(s.sign()*i.Low), math.Expm1(s.sign()*i.High)
		f.Interval = &Range{min(low, high), max(low, high)}
		f.Spread = number(math.Expm1(s.spread))
	}
	if s.Paired && s.known() && s.n >= 2 {
		f.Detectable = number(math.Expm1(s.spread * minDetectable(s.n)))
	}
	if cycles, ok := s.inCycles(); ok {
		change := number(math.Expm1(s.sign() * cycles))
		f.Cycles = &change
	}
	return f
}

// The minimum detectable change is stated for a single comparison at these error rates, whatever the
// policy, so that numbers of different policies can be compared.
const (
	detectAlpha = 0.001
	detectBeta  = 0.05
)

// detectable caches the minimum detectable change for a spread of one, by number of rounds. It is
// proportional to the spread, and takes longer to compute than the rest of a verdict.
var detectable sync.Map

func minDetectable(rounds int) float64 {
	known, _ := detectable.Load(rounds)
	if least, ok := known.(float64); ok {
		return least
	}
	least := stats.MinDetectable(1, rounds, detectAlpha, detectBeta)
	detectable.Store(rounds, least)
	return least
}

func (s *caseAnalysis) pairing() Pairing {
	switch {
	case s.Paired:
		return SideBySide
	case s.Stored && s.Reference != "":
		return StoredReference
	case s.Stored:
		return Stored
	default:
		return Unpaired
	}
}

func newSide(rounds []Round, pooled stats.Sorted, quantum float64) Side {
	m := medians(rounds)
	side := Side{
		Median: number(stats.Median(m)), Medians: m,
		P95: number(pooled.Quantile(0.95)), P99: number(pooled.Quantile(0.99)), CV: number(stats.CV(pooled)),
	}
	side.Modes = len(stats.Modes(thin(pooled), quantum))
	return side
}

// thin keeps at most a few hundred evenly spaced values, enough to find modes.
func thin(s stats.Sorted) stats.Sorted {
	const most = 400
	if len(s) <= most {
		return s
	}
	out := make(stats.Sorted, most)
	for i := range out {
		out[i] = s[i*(len(s)-1)/(most-1)]
	}
	return out
}

// number replaces NaN and infinities, which JSON cannot represent, by 0.
func number(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
