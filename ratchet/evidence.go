package ratchet

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Evidence is what is known about one case on two sides.
type Evidence struct {
	Case   measure.CaseKey // key of the candidate
	Unit   string
	Better measure.Better
	Timer  measure.Timer // part of the testbed
	Gate   bool
	// Reported is set for values that a harness or another tool states.
	Reported bool
	Limit    *float64 // of every value of the candidate; nil compares with the base
	// Quarantine is set for a case that would be gated but currently is not. It names the owner, the end date
	// and the reason. Such a case does not move a baseline either.
	Quarantine string

	Base, Candidate []Round
	// Paired reports that rounds with the same index were measured together, so that the machine affected both
	// sides alike.
	Paired bool
	// Stored reports that the base comes from earlier sessions in a ledger.
	Stored bool
	// Unlike is the reason why too few stored sessions can be compared; empty if there are enough.
	Unlike string
	// Reference is the implementation used to correct rounds of different sessions for changes of the machine;
	// empty if they were not corrected.
	Reference string

	HasBase, HasCandidate     bool
	BaseError, CandidateError string // why a side has no samples or wrong results
	Identical                 bool   // no input of a build or a kernel differs, and nothing was measured
	// Unchanged is what the record says about a case that cannot have changed. See BelieveSkipped.
	Unchanged measure.Unchanged
	NoSamples bool // a side has only a summary: nothing can be decided
	// Redefined lists the parts of the case's definition that differ from the base's: the suite, the harness, a
	// tolerance. Such a change must be accepted by a person.
	Redefined   string
	Accepted    bool // a person accepted it
	SecondClock bool // the candidate was also timed by an outside clock
}

// Round is one side of a round of a case: its samples and values derived from them.
type Round struct {
	Index   int
	Session string // the measuring session it belongs to
	Sorted  stats.Sorted
	Median  float64
	Turns   []float64 // medians of its turns, in order; empty if the sides took no turns
	Quantum float64
	// Cycles is the median of time multiplied by clock; 0 if clocks were not sampled.
	Cycles float64
}

// NewRound converts a round of a run record.
func NewRound(r measure.CaseRound, session string) Round {
	s := stats.Sort(r.Samples)
	round := Round{Index: r.Round, Session: session, Sorted: s, Median: s.Median(), Quantum: r.Quantum}
	if r.SamplesPerTurn > 0 && len(r.Samples) > r.SamplesPerTurn {
		for turn := range slices.Chunk(r.Samples, r.SamplesPerTurn) {
			round.Turns = append(round.Turns, stats.Median(turn))
		}
	}
	if len(r.Clocks) == len(r.Samples) && len(r.Samples) > 0 {
		cycles := make([]float64, len(r.Samples))
		for i := range cycles {
			cycles[i] = r.Samples[i] * r.Clocks[i]
		}
		round.Cycles = stats.Median(cycles)
	}
	return round
}

// usable reports whether the round can be used in a ratio.
func (r Round) usable() bool { return r.Median > 0 && !math.IsInf(r.Median, 0) }

// pairs returns the rounds that both sides have, in order.
func (e Evidence) pairs() (base, candidate []Round) {
	if e.matched() {
		return e.Base, e.Candidate
	}
	at := make(map[int]int, len(e.Base))
	for i, b := range e.Base {
		at[b.Index] = i
	}
	for _, c := range e.Candidate {
		if i, ok := at[c.Index]; ok && c.usable() && e.Base[i].usable() {
			base, candidate = append(base, e.Base[i]), append(candidate, c)
		}
	}
	return base, candidate
}

// matched reports whether both sides have the same rounds in the same order, as they do unless one failed. It
// is the fast path, because the judge calls pairs at every look.
func (e Evidence) matched() bool {
	if len(e.Base) != len(e.Candidate) {
		return false
	}
	for i, b := range e.Base {
		c := e.Candidate[i]
		if b.Index != c.Index || !b.usable() || !c.usable() || i > 0 && b.Index <= e.Base[i-1].Index {
			return false
		}
	}
	return true
}

// LogRatios returns the logarithms of candidate over base, one per round; positive if the candidate is worse.
func (e Evidence) LogRatios() []float64 { return newPairs(Default(), e).ratios }

// Rounds returns the number of rounds per side that can be judged.
func (e Evidence) Rounds() int {
	if !e.Paired {
		return min(len(e.Base), len(e.Candidate))
	}
	base, _ := e.pairs()
	return len(base)
}

// sign returns -1 if higher is better, so that positive means worse for every metric.
func (e Evidence) sign() float64 {
	if e.Better == measure.Higher {
		return -1
	}
	return 1
}

// all merges the samples of all rounds. The result is for display, not for judging.
func all(rounds []Round) stats.Sorted {
	parts := make([]stats.Sorted, len(rounds))
	for i, r := range rounds {
		parts[i] = r.Sorted
	}
	return stats.Merge(parts...)
}

func medians(rounds []Round) []float64 {
	out := make([]float64, len(rounds))
	for i, r := range rounds {
		out[i] = r.Median
	}
	return out
}

// quantum returns the coarsest timer step of the rounds.
func quantum(sides ...[]Round) float64 {
	var q float64
	for _, rounds := range sides {
		for _, r := range rounds {
			q = max(q, r.Quantum)
		}
	}
	return q
}
