package ratchet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// Policy defines how evidence becomes a verdict. The zero value is not usable; start from Default.
type Policy struct {
	Rule Rule `json:"rule"`
	// Edition is the version of the method. It increases when the same rounds could get a different verdict, so
	// that a record is judged by the rules of its time.
	Edition int `json:"edition"`

	Slower     float64 `json:"slower"` // a regression is at least this much slower: 0.03
	MinSpeedup float64 `json:"faster"` // a claimed improvement is at least this much faster: 0.10
	MoveGain   float64 `json:"moves"`  // a baseline moves on a confirmed gain of at least this: 0.05
	Suite      float64 `json:"suite"`  // the geometric mean over all cases may be slower by at most this: 0.01
	Delta      float64 `json:"delta"`  // minimum Cliff's delta of a claimed improvement: 0.3

	Alpha  float64 `json:"alpha"`  // chance of a false regression, per case, over all looks
	Beta   float64 `json:"beta"`   // chance of a false "maintained" at exactly Slower, over all looks
	Family float64 `json:"family"` // chance of any false regression among the cases of a run (Holm)

	// Undecided is the share of gated cases, rounded, that may stay undecided in a run that passes.
	Undecided float64 `json:"undecided,omitempty"`

	Looks       []int     `json:"looks"`        // rounds per side at which a verdict is attempted
	AlphaShares []float64 `json:"alpha_shares"` // how Alpha is spent over the looks
	BetaShares  []float64 `json:"beta_shares"`

	MinRounds int `json:"min_rounds"` // minimum rounds per side for any decision
	// With fewer than FewRounds rounds, the spread is assumed to be at least FewSpread: four equal numbers can be
	// luck, and a spread estimated from them cannot rule that out.
	FewRounds int     `json:"few_rounds"`
	FewSpread float64 `json:"few_spread"`
	// Apart is the difference assumed between two measuring sessions of the same code, if the sides were not
	// measured together.
	Apart float64 `json:"apart"`
	// MinSessions is the minimum number of stored measuring sessions of a stored baseline.
	MinSessions int `json:"min_sessions"`
	// Dependence is how much rounds of the testbed depend on their neighbors, if known.
	Dependence Dependence `json:"dependence,omitempty"`
	// Strict makes drift (the merge base is worse than the baseline) fail a change.
	Strict bool `json:"strict,omitempty"`

	// Cases holds different limits for some cases. For each limit, the last matching entry that sets it wins.
	Cases []CaseLimits `json:"cases,omitempty"`
}

// CaseLimits holds the limits for cases that match a pattern. Zero fields keep the general limit.
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
	// Paired compares round by round and controls both error rates. It is the default.
	Paired Rule = "paired"
	// Classic is the decision table of pawl's first user, based on intervals of pooled samples.
	Classic Rule = "classic"
)

// The editions.
const (
	// firstEdition compares medians of rounds by Student's t, in up to 32 rounds.
	firstEdition = 1
	// secondEdition compares adjacent turns, by a trimmed mean if there are wild rounds, in up to 64 rounds.
	secondEdition = 2
)

// Default returns the default policy.
func Default() Policy { return ForEdition(secondEdition) }

// ForEdition returns the default policy of an edition. Records from before editions existed have 0, which
// means the first.
func ForEdition(edition int) Policy {
	p := secondDefault()
	if edition < secondEdition {
		p.Edition, p.Undecided = firstEdition, 0
		p.Looks = []int{4, 8, 16, 32}
		p.AlphaShares = []float64{0.05, 0.20, 0.30, 0.45}
		p.BetaShares = []float64{0.10, 0.30, 0.30, 0.30}
	}
	return p
}

// secondDefault has many looks: an additional look costs little of the error rate and saves the rounds up
// to the next one. Few cases need the last two looks, but would be undecided without them.
func secondDefault() Policy {
	return Policy{
		Rule: Paired, Edition: secondEdition,
		Slower: 0.03, MinSpeedup: 0.10, MoveGain: 0.05, Suite: 0.01, Delta: 0.3,
		Alpha: 0.001, Beta: 0.05, Family: 0.01, Undecided: 0.02,
		Looks:       []int{4, 6, 8, 12, 16, 24, 32, 48, 64},
		AlphaShares: []float64{0.03, 0.05, 0.12, 0.12, 0.15, 0.18, 0.20, 0.08, 0.07},
		BetaShares:  []float64{0.045, 0.07, 0.17, 0.14, 0.175, 0.16, 0.14, 0.05, 0.05},
		MinRounds:   3, FewRounds: 8, FewSpread: 0.01,
		Apart:       0.05,
		MinSessions: 5,
	}
}

// Check returns an error if the policy is invalid.
func (p Policy) Check() error {
	var errs []error
	note := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	note(p.Rule != Paired && p.Rule != Classic, "rule %q: must be %s or %s", p.Rule, Paired, Classic)
	for _, limit := range []struct {
		name  string
		value float64
	}{{"slower", p.Slower}, {"faster", p.MinSpeedup}, {"moves", p.MoveGain}, {"suite", p.Suite}} {
		note(!(limit.value > 0 && limit.value < 10), "%s %v: must be a share above 0, such as 0.03", limit.name, limit.value)
	}
	for _, rate := range []struct {
		name  string
		value float64
	}{{"alpha", p.Alpha}, {"beta", p.Beta}, {"family", p.Family}} {
		note(!(rate.value > 0 && rate.value < 0.5), "%s %v: must be a probability below 0.5", rate.name, rate.value)
	}
	note(!(p.Undecided >= 0 && p.Undecided < 1), "undecided %v: must be a share of the cases, such as 0.02, or 0", p.Undecided)
	note(len(p.Looks) == 0 || !slices.IsSorted(p.Looks) || len(slices.Compact(slices.Clone(p.Looks))) != len(p.Looks), "looks %v: must be increasing numbers of rounds", p.Looks)
	note(len(p.AlphaShares) != len(p.Looks) || len(p.BetaShares) != len(p.Looks), "there are %d looks, but error shares for %d and %d", len(p.Looks), len(p.AlphaShares), len(p.BetaShares))
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

// lookAt returns the look for a number of rounds: the first one that needs at least as many. The number
// need not match exactly, because a round may have been dropped or a run cut short.
func (p Policy) lookAt(rounds int) int {
	for k, n := range p.Looks {
		if n >= rounds {
			return k
		}
	}
	return len(p.Looks) - 1
}

// ForPlan returns the policy for judging a record by its own edition, with what was known about its testbed.
func (p Policy) ForPlan(plan measure.Plan) Policy {
	then := ForEdition(plan.Edition)
	p.Edition, p.Dependence = then.Edition, plan.Dependence
	p.Looks, p.AlphaShares, p.BetaShares = then.Looks, then.AlphaShares, then.BetaShares
	if then.Edition == firstEdition {
		p.Undecided = 0
	}
	return p.WithLooks(plan.Growth)
}

// WithLooks returns the policy for another plan of rounds. A single look spends the whole error rate.
func (p Policy) WithLooks(looks []int) Policy {
	if slices.Equal(looks, p.Looks) || len(looks) == 0 {
		return p
	}
	p.Looks = slices.Clone(looks)
	p.AlphaShares = evenShares(len(looks))
	p.BetaShares = evenShares(len(looks))
	return p
}

// evenShares returns shares that grow with the look: later looks have more rounds.
func evenShares(n int) []float64 {
	shares := make([]float64, n)
	total := float64(n*(n+1)) / 2
	for i := range shares {
		shares[i] = float64(i+1) / total
	}
	return shares
}
