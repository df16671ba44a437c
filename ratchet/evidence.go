package ratchet

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Evidence is what is known of one case on two sides.
type Evidence struct {
	Case   measure.CaseKey // of the candidate
	Unit   string
	Better measure.Better
	Timer  measure.Timer // part of the testbed
	Gate   bool
	// Quarantine says why the case is not gated although it would be: who looks after it and
	// until when. Such a case moves no baseline either.
	Quarantine string

	Base, Candidate []Round
	// Paired says that rounds of one index were measured together, so that what
	// the machine did to one it did to the other.
	Paired bool
	// Stored says that the base is what a ledger keeps of earlier sessions.
	Stored bool
	// Unlike says why too few stored sessions can be compared; empty if there are enough.
	Unlike string
	// Reference names the implementation by which rounds of different sessions were
	// corrected for the machine; empty where they were not.
	Reference string

	HasBase, HasCandidate     bool
	BaseError, CandidateError string // why a side has no samples, or is wrong
	Identical                 bool   // nothing differs that a build or a kernel reads, and nothing was measured
	NoSamples                 bool   // a side is only a summary: nothing can be decided
	// Redefined says what the case is measured with that is not the base's: the suite,
	// the harness, a tolerance. Whoever changes those needs a person's word.
	Redefined   string
	Accepted    bool // a person has given it
	SecondClock bool // the samples are not the only clock
}

// Round is one side of a round of a case: its samples and what is read off them.
type Round struct {
	Index   int
	Session string // the measuring session it belongs to
	Sorted  stats.Sorted
	Median  float64
	Turns   []float64 // medians of its turns, in order; empty where the sides took none
	Quantum float64
	// Cycles is the median of time times clock; 0 where clocks were not sampled.
	Cycles float64
}

// NewRound reads a round of a record.
func NewRound(r measure.CaseRound, session string) Round {
	s := stats.Sort(r.Samples)
	round := Round{Index: r.Round, Session: session, Sorted: s, Median: s.Median(), Quantum: r.Quantum}
	if r.Turn > 0 && len(r.Samples) > r.Turn {
		for turn := range slices.Chunk(r.Samples, r.Turn) {
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

// usable tells whether a ratio can be made of the round.
func (r Round) usable() bool { return r.Median > 0 && !math.IsInf(r.Median, 0) }

// pairs gives the rounds that both sides have, in order.
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

// matched tells whether the sides have the same rounds in the same order, as they do
// unless one failed. The judge asks at every look.
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

// LogRatios are the logarithms of candidate over base, one a round, above zero where the candidate is worse.
func (e Evidence) LogRatios() []float64 { return newPairs(Default(), e).ratios }

// Rounds is how many rounds a side there are to judge by.
func (e Evidence) Rounds() int {
	if !e.Paired {
		return min(len(e.Base), len(e.Candidate))
	}
	base, _ := e.pairs()
	return len(base)
}

// sign is -1 where more is better: then above zero is worse whatever the metric.
func (e Evidence) sign() float64 {
	if e.Better == measure.Higher {
		return -1
	}
	return 1
}

// all puts the samples of all rounds together, for what is shown, not judged.
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

// quantum is the coarsest timer step of the rounds.
func quantum(sides ...[]Round) float64 {
	var q float64
	for _, rounds := range sides {
		for _, r := range rounds {
			q = max(q, r.Quantum)
		}
	}
	return q
}
