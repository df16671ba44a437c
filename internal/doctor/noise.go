package doctor

import (
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// The question that the least change answers: found 95 times in 100, and of a
// thousand cases without a change one is called changed.
const (
	falseAlarms = 0.001
	misses      = 0.05
)

// noisy is the spread within a round above which a case is pointed out.
const noisy = 0.12

// usualLooks are the numbers of rounds for which the least change is told.
var usualLooks = []int{4, 8, 16, 32}

// Noise is how much the same code differs from itself on a machine.
type Noise struct {
	Rounds  int         `json:"rounds"`  // that count
	Planned int         `json:"planned"` // rounds that a comparison would use at most
	Cases   []CaseNoise `json:"cases"`
}

// CaseNoise is that of one case. Spreads are standard deviations of logarithms:
// 0.01 is one percent.
type CaseNoise struct {
	Case   string        `json:"case"`
	Timer  measure.Timer `json:"timer,omitempty"`
	Rounds int           `json:"rounds"` // in which both sides were measured

	Within  float64 `json:"within"`  // coefficient of variation in a round, the median over rounds
	Between float64 `json:"between"` // of the medians of rounds
	Paired  float64 `json:"paired"`  // of the ratio of the two sides of a round
	Noisy   bool    `json:"noisy,omitempty"`

	// Offset is by how much the candidate was slower than itself as the base, on
	// average; Biased says that this is not chance.
	Offset float64 `json:"offset"`
	Biased bool    `json:"biased,omitempty"`

	Least []Detectable `json:"least,omitempty"` // at 4, 8, 16 and 32 rounds, and at the planned number
	Other *OtherClock  `json:"other,omitempty"` // the same runs on a clock that was read beside and could decide

	Unsteady int    `json:"unsteady,omitempty"` // rounds in which the warm-up found no end
	Error    string `json:"error,omitempty"`    // why nothing can be said
}

// Detectable is the least slowdown that a number of rounds finds.
type Detectable struct {
	Rounds   int     `json:"rounds"`
	Slowdown float64 `json:"slowdown"` // 0.021 is 2.1 %
}

// OtherClock is the paired spread of a case on a clock that does not decide.
type OtherClock struct {
	Timer  measure.Timer `json:"timer"`
	Paired float64       `json:"paired"`
}

// NewNoise reads the noise from a run that measured the candidate against itself.
// Planned is how many rounds a comparison would use at most; with one alone nothing
// could ever be found, so two are the least.
func NewNoise(run *measure.Run, planned int) Noise {
	n := Noise{Planned: max(planned, 2)}
	dropped := map[int]bool{}
	for _, r := range run.Rounds {
		if r.Dropped != "" {
			dropped[r.Index] = true
		} else {
			n.Rounds++
		}
	}
	again := map[string]measure.Case{}
	for _, c := range run.Cases {
		if c.Implementation == suite.Base {
			again[c.Name()] = c
		}
	}
	looks := newLooks(n.Planned)
	for _, c := range run.Cases {
		if c.Implementation == suite.Candidate {
			p := pairs{base: again[c.Name()], candidate: c, dropped: dropped, onHost: run.Device.Kind == gpu.CPU}
			n.Cases = append(n.Cases, p.noise(looks))
		}
	}
	return n
}

// look is a number of rounds and what it finds, in units of the paired spread:
// costly to compute, and the same for all cases.
type look struct {
	rounds    int
	perSpread float64
}

// newLooks are the numbers of rounds to tell of, the planned one among them.
func newLooks(planned int) []look {
	numbers := slices.Clone(usualLooks)
	if !slices.Contains(numbers, planned) {
		numbers = append(numbers, planned)
		slices.Sort(numbers)
	}
	var list []look
	for _, n := range numbers {
		list = append(list, look{n, stats.LeastDetectable(1, n, falseAlarms, misses)})
	}
	return list
}
