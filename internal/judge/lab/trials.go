package lab

import (
	"context"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/parallel"
)

// Row holds the answers of one method to similar comparisons.
type Row struct {
	Corpus string  `json:"corpus"`
	Method string  `json:"method"`
	Note   string  `json:"note,omitempty"` // what is special about the scene
	Shape  Shape   `json:"shape,omitempty"`
	Spread float64 `json:"spread,omitempty"`
	Effect float64 `json:"effect"`
	Tally
}

// trials asks all methods about n comparisons. A comparison depends only on its number, so that the
// counts do not depend on the number of cores.
func trials(ctx context.Context, n int, methods []Method, compare func(trial uint64) Comparison) ([]Tally, error) {
	return count(ctx, n, len(methods), func(trial uint64, tallies []Tally) {
		c := compare(trial)
		for i, m := range methods {
			tallies[i].add(m.Ask(c))
		}
	})
}

// count runs trials on all cores and adds up their tallies.
func count(ctx context.Context, n, tallies int, try func(trial uint64, tallies []Tally)) ([]Tally, error) {
	var mu sync.Mutex
	total := make([]Tally, tallies)
	const together = 50 // trials per partial tally
	err := parallel.Each(ctx, (n+together-1)/together, func(part int) {
		own := make([]Tally, tallies)
		for trial := part * together; trial < min((part+1)*together, n); trial++ {
			try(uint64(trial), own)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, t := range own {
			total[i].merge(t)
		}
	})
	return total, err
}

func (t *Tally) merge(o Tally) {
	t.Trials += o.Trials
	t.Regression += o.Regression
	t.Improvement += o.Improvement
	t.Nothing += o.Nothing
	t.Abstains += o.Abstains
	t.Rounds += o.Rounds
}
