package search

import "github.com/goatnote-inc/pawl/internal/tune/space"

// modelLimit is how many evaluations a model learns from: its work for a proposal grows
// with their square.
const modelLimit = 300

// Auto is what a user gets who does not choose. The model finds most of what there is
// in few evaluations. When there are many, what is left is small and the model slow:
// from then on points are bred from the best, which costs nothing.
type Auto struct {
	points  int
	model   Strategy
	genetic *Genetic
	told    int
}

// NewAuto makes one.
func NewAuto(s *space.Space, o Options) *Auto {
	return &Auto{points: s.Len(), model: newModel(s, o), genetic: NewGenetic(s, o)}
}

// Ask gives points of the model, and later of the breeding.
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

// Tell hands the outcome to both.
func (a *Auto) Tell(o Outcome) {
	a.told++
	a.genetic.Tell(o)
	if a.told <= modelLimit {
		a.model.Tell(o)
	}
}
