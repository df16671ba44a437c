package simulate

import (
	"cmp"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Priors believes the rules and never learns.
type Priors struct{}

// Rank puts first what its rule expects the most of.
func (Priors) Rank(all []model.Candidate) []model.Ranked {
	return rank(all, func(c model.Candidate) (float64, int) { return c.Prior, 0 })
}

// Learn does nothing.
func (Priors) Learn(model.Outcome) {}

// RunningMean expects of a fix what it gained on average so far, wherever that was; of one
// that was never tried, what its rule says.
type RunningMean struct {
	sums   map[string]float64
	counts map[string]int
}

// NewRunningMean has seen nothing yet.
func NewRunningMean() *RunningMean {
	return &RunningMean{sums: map[string]float64{}, counts: map[string]int{}}
}

// Rank puts first what gained the most.
func (m *RunningMean) Rank(all []model.Candidate) []model.Ranked {
	return rank(all, func(c model.Candidate) (float64, int) {
		if n := m.counts[c.Fix]; n > 0 {
			return m.sums[c.Fix] / float64(n), n
		}
		return c.Prior, 0
	})
}

// Learn counts an outcome.
func (m *RunningMean) Learn(o model.Outcome) {
	m.sums[o.Fix] += o.Gain
	m.counts[o.Fix]++
}

// Oracle knows what every fix gains by class and GPU, but neither that a class was
// misjudged nor what is special to a kernel. No ranker can be expected to do better.
type Oracle struct{ world *World }

// Oracle is the one of this world.
func (w *World) Oracle() Oracle { return Oracle{w} }

// Rank puts first what truly gains the most on kernels of this class and GPU.
func (o Oracle) Rank(all []model.Candidate) []model.Ranked {
	return rank(all, func(c model.Candidate) (float64, int) {
		if c.Fix == PoisonedFix {
			return 0, 0
		}
		return o.world.fix(c.Fix).truth(c.Class, c.GPU), 0
	})
}

// Learn does nothing: there is nothing it does not know.
func (Oracle) Learn(model.Outcome) {}

// rank orders by what is expected, then by name. None of these rankers has an interval.
func rank(all []model.Candidate, expect func(model.Candidate) (float64, int)) []model.Ranked {
	ranked := make([]model.Ranked, 0, len(all))
	for _, c := range all {
		gain, seen := expect(c)
		ranked = append(ranked, model.Ranked{Candidate: c, Gain: gain, Low: gain, High: gain, Seen: seen})
	}
	slices.SortFunc(ranked, func(a, b model.Ranked) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Fix, b.Fix))
	})
	if len(ranked) > 0 {
		ranked[0].Best = 1
	}
	return ranked
}
