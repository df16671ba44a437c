// Package demo makes up a year in the life of a project: commits, runs on three
// machines, pull requests, and what goes wrong in a year. The same seed gives the same
// year. What was planted is known, so that a finder can be held against it. The package
// is pure; it must not know how a report is sent or kept.
package demo

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// Size is how much there is of a year. Zero takes the default.
type Size struct {
	End     time.Time // when it ends; the start of 2026 if zero
	Days    int       // 365
	Commits int       // to the default branch on a working day: 3
	Configs int       // of a benchmark: all
}

func (s Size) filled() Size {
	if s.End.IsZero() {
		s.End = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	s.End = s.End.UTC().Truncate(24 * time.Hour)
	s.Days = cmp.Or(s.Days, 365)
	s.Commits = cmp.Or(s.Commits, 3)
	s.Configs = cmp.Or(s.Configs, 99)
	return s
}

// Kind is what was planted.
type Kind string

// The kinds.
const (
	Step      Kind = "step"       // by a commit
	Drift     Kind = "drift"      // by many, a little each
	Machine   Kind = "machine"    // the whole testbed moved
	TwoSpeeds Kind = "two-speeds" // a card goes back and forth: nobody did anything
	Outliers  Kind = "outliers"   // single runs that were disturbed
)

// Planted is one thing that is known to have happened.
type Planted struct {
	Kind   Kind
	Suite  string
	Name   string   // of the benchmark; empty for all of the testbed
	Device string   // empty for every device
	Cases  []string // names of the cases it is in
	Commit string   // the first that has it
	At     time.Time
	Change float64 // as a share, above zero for slower
}

// Year is the history, in the order the reports were sent.
func Year(seed uint64, size Size) iter.Seq[*client.Report] {
	return func(yield func(*client.Report) bool) {
		newYear(seed, size).run(yield)
	}
}

// Truth is what was planted in the year of this seed and size, in the order it happened.
func Truth(seed uint64, size Size) []Planted { return newYear(seed, size).truth() }

// year is everything that is drawn before the first report is made.
type year struct {
	size    Size
	commits []commit
	plants  []plant
	seed    uint64
	cases   []*kase
}

func newYear(seed uint64, size Size) *year {
	y := &year{size: size.filled(), seed: seed}
	y.commits = history(y.chance(1), y.size)
	y.cases = cases(y.chance(2), y.size.Configs)
	y.plants = plants(len(y.commits))
	return y
}

// chance is a source of its own for each purpose, so that more of one thing does not
// change another.
func (y *year) chance(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(y.seed, purpose)) }
