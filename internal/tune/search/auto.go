package search

import "github.com/goatnote-inc/pawl/internal/tune/space"

// modelLimit is the max number of evaluations a model learns from, because the work per
// proposal grows with their square.
const modelLimit = 300

// Auto is the default strategy. The model finds most of the gain in few evaluations. After
// many, little gain is left and the model is slow, so from then on points come from
// Genetic, which is cheap.
type Auto struct {
	points  int
	model   Strategy
	genetic *Genetic
	told    int
}

// NewAuto returns an Auto strategy.
func NewAuto(s *space.Space, o Options) *Auto {
	return &Auto{points: s.Len(), model: newModel(s, o), genetic: NewGenetic(s, o)}
}

// Ask returns points from the model, and later from the genetic strategy.
func (a *Auto) Ask(n int) []int {
	if a.points-a.genetic.unseen.n >= modelLimit {
		return a.genetic.Ask(n)
	}
	list := a.model.Ask(n)
	for _, p := range list {
		a.genetic.unseen.take(p)
	}
	return list
}

// Tell passes the outcome to both.
func (a *Auto) Tell(o Outcome) {
	a.told++
	a.genetic.Tell(o)
	if a.told <= modelLimit {
		a.model.Tell(o)
	}
}
