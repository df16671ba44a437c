package model

// Mean is a running mean: what a fix gained on kernels with the same bottleneck so far, with
// the rule's expectation counted as a few outcomes more. It learns, knows nothing of GPUs,
// kernels or lessons, and takes every outcome at its word.
type Mean struct {
	weight float64 // of the rule, in outcomes
	sums   map[[2]string]sum
	seen   map[string]int
}

type sum struct{ n, gain, square float64 }

// NewMean is a running mean that counts a rule's expectation as two outcomes.
func NewMean() *Mean {
	return &Mean{weight: 2, sums: map[[2]string]sum{}, seen: map[string]int{}}
}

// Learn takes an outcome in.
func (m *Mean) Learn(o Outcome) {
	gain, ok := finite(o.Gain)
	if !ok {
		return
	}
	k := [2]string{o.Fix, o.Class}
	s := m.sums[k]
	m.sums[k] = sum{s.n + 1, s.gain + gain, s.square + gain*gain}
	m.seen[o.Fix]++
}

// Rank puts candidates by their means.
func (m *Mean) Rank(candidates []Candidate) []Ranked {
	guesses := make([]guess, len(candidates))
	for i, c := range candidates {
		c = tame(c)
		s := m.sums[[2]string{c.Fix, c.Class}]
		n := s.n + m.weight
		mean := (s.gain + m.weight*c.Prior) / n
		// The spread of outcomes around the mean, that of rules counted like their means.
		off := s.square - 2*mean*s.gain + s.n*mean*mean
		spread := (max(off, 0) + m.weight*square(priorSpread)) / n
		guesses[i] = guess{mean: mean, own: spread * (1 + 1/n)}
	}
	return ranked(candidates, guesses, m.seen, 0)
}
