package model

// Priors believes the rules and never learns. It is what every other ranker has to beat.
type Priors struct{ seen map[string]int }

// NewPriors is a ranker that knows the rules only.
func NewPriors() *Priors { return &Priors{seen: map[string]int{}} }

// Learn counts the outcome, no more.
func (p *Priors) Learn(o Outcome) { p.seen[o.Fix]++ }

// Rank puts candidates by what their rules expect.
func (p *Priors) Rank(candidates []Candidate) []Ranked {
	guesses := make([]guess, len(candidates))
	for i, c := range candidates {
		c = tame(c)
		guesses[i] = guess{mean: c.Prior, own: square(priorSpread)}
	}
	return ranked(candidates, guesses, p.seen, 0)
}

// priorSpread is how far a rule's expectation is usually off, where nothing is known.
const priorSpread = 0.15
