package model

import (
	"math"
	"slices"
)

// Model is the ranker that learns over fixes, bottlenecks, GPUs, kernels and lessons at
// once: docs/explanation/model.md tells how. It is not for use by several goroutines.
type Model struct {
	explore  float64
	outcomes []Outcome
	unknown  []int // of the outcomes, those of which nobody remembers what was expected
	expected map[place]expectation
	seen     map[string]int
	fit      *fit // nil when something was learned since
}

// expectation is what rule and lessons said.
type expectation struct {
	prior  float64
	claims []Claim
}

// Option changes how a Model ranks.
type Option func(*Model)

// Explore puts fixes of which little is known higher, by so many standard deviations of what
// is not known. 0, as is without it, names what is the best now; 1 tries more and learns
// faster.
func Explore(deviations float64) Option { return func(m *Model) { m.explore = deviations } }

// New is a model that has seen nothing yet.
func New(options ...Option) *Model {
	m := &Model{expected: map[place]expectation{}, seen: map[string]int{}}
	for _, o := range options {
		o(m)
	}
	return m
}

// Learn takes an outcome in. One whose gain is not a number is passed over.
func (m *Model) Learn(o Outcome) {
	gain, ok := finite(o.Gain)
	if !ok {
		return
	}
	c := tame(Candidate{Prior: o.Prior, Claims: o.Claims})
	o.Gain, o.Prior, o.Claims = gain, c.Prior, c.Claims
	if math.IsNaN(o.Error) || o.Error < 0 {
		o.Error = unknownError
	}
	o.Error = min(o.Error, most)
	m.seen[o.Fix]++
	m.fit = nil
	if o.Prior == 0 && len(o.Claims) == 0 {
		if e, ok := m.expected[place{o.Key, o.Kernel}]; ok {
			o.Prior, o.Claims = e.prior, e.claims
		} else {
			m.unknown = append(m.unknown, len(m.outcomes))
		}
	}
	m.outcomes = append(m.outcomes, o)
	if len(m.outcomes) > mostOutcomes {
		m.forget(mostOutcomes / 4)
	}
}

// mostOutcomes bounds the work: what is older was learned on other compilers and drivers.
const mostOutcomes = 4096

// forget drops the oldest outcomes.
func (m *Model) forget(n int) {
	m.outcomes = slices.Delete(m.outcomes, 0, n)
	var unknown []int
	for _, i := range m.unknown {
		if i >= n {
			unknown = append(unknown, i-n)
		}
	}
	m.unknown = unknown
}

// unknownError is that of a measurement that does not know its own.
const unknownError = 0.05

// Rank puts candidates of one kernel by expected gain, the best first. The first call after
// Learn takes all outcomes into account and is the dearer one.
func (m *Model) Rank(candidates []Candidate) []Ranked {
	m.remember(candidates)
	if m.fit == nil {
		m.fit = learned(cells(m.recalled()))
	}
	// The scales are guessed from the same outcomes: the fewer, the less they are known.
	doubt := 1 + 6/float64(len(m.fit.cells)+12)
	guesses := make([]guess, len(candidates))
	for i, c := range candidates {
		c = tame(c)
		guesses[i] = m.fit.guess(place{c.Key, c.Kernel}, c.Prior, c.Claims).wider(doubt)
	}
	return ranked(candidates, guesses, m.seen, m.explore)
}

// remember keeps what is expected of candidates for the outcomes that will come of them,
// and for those that came before and do not say.
func (m *Model) remember(candidates []Candidate) {
	const enough = 1 << 16
	if len(m.expected) > enough {
		clear(m.expected)
	}
	for _, c := range candidates {
		c = tame(c)
		e := expectation{c.Prior, c.Claims}
		for _, p := range []place{{c.Key, c.Kernel}, {Key: c.Key}, {Key: Key{Fix: c.Fix}}} {
			if old, ok := m.expected[p]; len(m.unknown) > 0 && (!ok || old.prior != e.prior || !slices.Equal(old.claims, e.claims)) {
				m.fit = nil
			}
			m.expected[p] = e
		}
	}
}

// recalled are the outcomes, each with what was expected of it as far as can be told.
func (m *Model) recalled() []Outcome {
	list := slices.Clone(m.outcomes)
	for _, i := range m.unknown {
		o := &list[i]
		o.Prior = usualPrior
		for _, p := range []place{{Key: o.Key}, {Key: Key{Fix: o.Fix}}} {
			if e, ok := m.expected[p]; ok {
				o.Prior, o.Claims = e.prior, e.claims
				break
			}
		}
	}
	return list
}

// usualPrior is what rules expect on average, for a fix of which no rule speaks any more.
const usualPrior = 0.1

var (
	_ Ranker = (*Model)(nil)
	_ Ranker = (*Mean)(nil)
	_ Ranker = (*Priors)(nil)
)
