// Package demo generates a year of a fictional project: commits, runs on three machines, pull requests,
// and typical problems. The same seed gives the same year. The planted changes are known, so that a
// finder can be tested against them. The package is pure; it must not know how a report is sent or
// stored.
package demo

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// Size is the amount of data in a year. Zero fields mean the default.
type Size struct {
	End     time.Time // end of the year; zero means the start of 2026
	Days    int       // zero means 365
	Commits int       // per working day on the default branch; zero means 3
	Configs int       // per benchmark; zero means all
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

// Kind is the kind of a planted change.
type Kind string

// The kinds.
const (
	Step      Kind = "step"       // caused by one commit
	Drift     Kind = "drift"      // caused by many commits, a little each
	Machine   Kind = "machine"    // the whole testbed changed
	TwoSpeeds Kind = "two-speeds" // a card switches between two speeds, without a cause in the code
	Outliers  Kind = "outliers"   // single disturbed runs
)

// Planted is a change that is known to have happened.
type Planted struct {
	Kind   Kind
	Suite  string
	Name   string   // of the benchmark; empty means all on the testbed
	Device string   // empty means every device
	Cases  []string // names of the affected cases
	Commit string   // the first commit with the change
	At     time.Time
	Change float64 // as a fraction; above zero means slower
}

// Year returns the reports of the history, in the order they were sent.
func Year(seed uint64, size Size) iter.Seq[*client.Report] {
	return func(yield func(*client.Report) bool) {
		newYear(seed, size).run(yield)
	}
}

// Truth returns the changes planted in the year of this seed and size, in order of time.
func Truth(seed uint64, size Size) []Planted { return newYear(seed, size).truth() }

// year holds everything that is generated before the first report.
type year struct {
	size    Size
	commits []commit
	plants  []plantedChange
	seed    uint64
	cases   []*machineCase
}

func newYear(seed uint64, size Size) *year {
	y := &year{size: size.filled(), seed: seed}
	y.commits = history(y.chance(1), y.size)
	y.cases = cases(y.chance(2), y.size.Configs)
	y.plants = plants(len(y.commits))
	return y
}

// chance returns a separate random source for each purpose, so that more of one thing does not change
// another.
func (y *year) chance(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(y.seed, purpose)) }
