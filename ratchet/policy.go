package ratchet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// Policy is how evidence becomes a verdict. The zero value is not usable; start
// from Default.
type Policy struct {
	Rule Rule `json:"rule"`
	// Edition says how rounds are weighed. It changes when the same rounds can get another answer, so
	// that a record is judged as it was when it was made.
	Edition int `json:"edition"`

	Slower float64 `json:"slower"` // a regression is at least this much slower: 0.03
	Faster float64 `json:"faster"` // a claimed improvement is at least this much faster: 0.10
	Moves  float64 `json:"moves"`  // a baseline moves on a confirmed gain of at least this: 0.05
	Suite  float64 `json:"suite"`  // the geometric mean over all cases may be slower by at most this: 0.01
	Delta  float64 `json:"delta"`  // the least Cliff's delta of a claimed improvement: 0.3

	Alpha  float64 `json:"alpha"`  // chance of a false regression, per case, over all looks
	Beta   float64 `json:"beta"`   // chance of a false "maintained" at exactly Slower, over all looks
	Family float64 `json:"family"` // chance of any false regression among the cases of a run (Holm)

	// Undecided is the share of gated cases, rounded, that may stay without an answer in a run that passes.
	Undecided float64 `json:"undecided,omitempty"`

	Looks       []int     `json:"looks"`        // rounds a side at which the verdict is looked at
	AlphaShares []float64 `json:"alpha_shares"` // how Alpha is spent over the looks
	BetaShares  []float64 `json:"beta_shares"`

	MinRounds int `json:"min_rounds"` // with fewer rounds a side nothing is decided
	// With fewer than FewRounds, rounds are taken to spread by at least FewSpread: four
	// equal numbers can be luck, and a spread estimated from them cannot tell.
	FewRounds int     `json:"few_rounds"`
	FewSpread float64 `json:"few_spread"`
	// Apart is by how much two measuring sessions of the same code are taken to differ
	// where the sides were not measured together.
	Apart float64 `json:"apart"`
	// MinSessions is how many stored measuring sessions a stored baseline needs.
	MinSessions int `json:"min_sessions"`
	// Dependence is how much rounds of the testbed resemble their neighbors, where that is known.
	Dependence Dependence `json:"dependence,omitempty"`
	// Strict makes drift (the merge base is worse than the baseline) fail a change.
	Strict bool `json:"strict,omitempty"`

	// Cases are other limits for some cases; the last that matches a name counts.
	Cases []CaseLimits `json:"cases,omitempty"`
}

// CaseLimits are limits of the cases whose names a pattern matches. What is zero
// stays as it is.
type CaseLimits struct {
	Match  string  `json:"match"` // a glob over names or benchmarks
	Slower float64 `json:"slower,omitempty"`
	Faster float64 `json:"faster,omitempty"`
	Moves  float64 `json:"moves,omitempty"`
}

// Rule is the kind of a policy.
type Rule string

// The rules.
const (
	// Paired compares round by round and controls both errors. The default.
	Paired Rule = "paired"
	// Classic is the table pawl's first user wrote down: intervals of pooled samples.
	Classic Rule = "classic"
)

// The editions.
const (
	// firstEdition compares medians of rounds by Student's t, in up to 32 rounds.
	firstEdition = 1
	// secondEdition compares turns that follow each other, by a trimmed mean where rounds are wild, in
	// up to 64 rounds.
	secondEdition = 2
)

// Default is the policy a user gets without writing one.
func Default() Policy { return OfEdition(secondEdition) }

// OfEdition is the policy that an edition of pawl had by default. Records from before editions were
// counted have none, which is the first.
func OfEdition(edition int) Policy {
	p := secondDefault()
	if edition < secondEdition {
		p.Edition, p.Undecided = firstEdition, 0
		p.Looks = []int{4, 8, 16, 32}
		p.AlphaShares = []float64{0.05, 0.20, 0.30, 0.45}
		p.BetaShares = []float64{0.10, 0.30, 0.30, 0.30}
	}
	return p
}

// secondDefault has many looks: a look more costs little of the error budget, and saves the rounds to the
// next one. Few cases need the last two, and would have no answer without them.
func secondDefault() Policy {
	return Policy{
		Rule: Paired, Edition: secondEdition,
		Slower: 0.03, Faster: 0.10, Moves: 0.05, Suite: 0.01, Delta: 0.3,
		Alpha: 0.001, Beta: 0.05, Family: 0.01, Undecided: 0.02,
		Looks:       []int{4, 6, 8, 12, 16, 24, 32, 48, 64},
		AlphaShares: []float64{0.03, 0.05, 0.12, 0.12, 0.15, 0.18, 0.20, 0.08, 0.07},
		BetaShares:  []float64{0.045, 0.07, 0.17, 0.14, 0.175, 0.16, 0.14, 0.05, 0.05},
		MinRounds:   3, FewRounds: 8, FewSpread: 0.01,
		Apart:       0.05,
		MinSessions: 5,
	}
}

// Check says what is wrong with a policy.
func (p Policy) Check() error {
	var errs []error
	note := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	note(p.Rule != Paired && p.Rule != Classic, "rule %q: want %s or %s", p.Rule, Paired, Classic)
	for _, limit := range []struct {
		name  string
		value float64
	}{{"slower", p.Slower}, {"faster", p.Faster}, {"moves", p.Moves}, {"suite", p.Suite}} {
		note(!(limit.value > 0 && limit.value < 10), "%s %v: want a share above 0, such as 0.03", limit.name, limit.value)
	}
	for _, rate := range []struct {
		name  string
		value float64
	}{{"alpha", p.Alpha}, {"beta", p.Beta}, {"family", p.Family}} {
		note(!(rate.value > 0 && rate.value < 0.5), "%s %v: want a probability below 0.5", rate.name, rate.value)
	}
	note(!(p.Undecided >= 0 && p.Undecided < 1), "undecided %v: want a share of the cases, such as 0.02, or 0", p.Undecided)
	note(len(p.Looks) == 0 || !slices.IsSorted(p.Looks) || len(slices.Compact(slices.Clone(p.Looks))) != len(p.Looks), "looks %v: want rising numbers of rounds", p.Looks)
	note(len(p.AlphaShares) != len(p.Looks) || len(p.BetaShares) != len(p.Looks), "there are %d looks, and shares for %d and %d", len(p.Looks), len(p.AlphaShares), len(p.BetaShares))
	note(total(p.AlphaShares) > 1+1e-9 || total(p.BetaShares) > 1+1e-9, "the looks spend more than the whole error budget")
	return errors.Join(errs...)
}

func total(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// lookAt says at which look so many rounds stand: the first that asks for as many.
// A round may have been dropped, or a run cut short, so it need not be an exact one.
func (p Policy) lookAt(rounds int) int {
	for k, n := range p.Looks {
		if n >= rounds {
			return k
		}
	}
	return len(p.Looks) - 1
}

// For is the policy for judging a record as its own edition does, with what was known of its testbed.
func (p Policy) For(plan measure.Plan) Policy {
	then := OfEdition(plan.Edition)
	p.Edition, p.Dependence = then.Edition, plan.Dependence
	p.Looks, p.AlphaShares, p.BetaShares = then.Looks, then.AlphaShares, then.BetaShares
	if then.Edition == firstEdition {
		p.Undecided = 0
	}
	return p.WithLooks(plan.Growth)
}

// WithLooks is the policy for another plan of rounds. One look spends everything.
func (p Policy) WithLooks(looks []int) Policy {
	if slices.Equal(looks, p.Looks) || len(looks) == 0 {
		return p
	}
	p.Looks = slices.Clone(looks)
	p.AlphaShares = evenShares(len(looks))
	p.BetaShares = evenShares(len(looks))
	return p
}

// evenShares grow with the look: later looks have more rounds behind them.
func evenShares(n int) []float64 {
	shares := make([]float64, n)
	total := float64(n*(n+1)) / 2
	for i := range shares {
		shares[i] = float64(i+1) / total
	}
	return shares
}
