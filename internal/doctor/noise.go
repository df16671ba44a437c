package doctor

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// noisy is the spread within a round above which a case is pointed out.
const noisy = 0.12

// Noise is how much the same code differs from itself on a machine.
type Noise struct {
	Rounds int         `json:"rounds"` // that count
	Cases  []CaseNoise `json:"cases"`

	Kept       int                `json:"kept"` // rounds of the same code on this testbed, over all cases and runs
	Dependence ratchet.Dependence `json:"dependence,omitempty"`
	// Prospects are those of the quietest case and of the noisiest. None if too little was measured.
	Prospects []Prospect `json:"prospects,omitempty"`
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

	Lag    float64 `json:"lag"`              // how much a ratio resembles the one before: the autocorrelation
	Wild   int     `json:"wild"`             // rounds that are far from the others
	Speeds int     `json:"speeds,omitempty"` // values around which medians gather; 0 where there are too few

	// Offset is by how much the candidate was slower than itself as the base, on
	// average; Biased says that this is not chance.
	Offset float64 `json:"offset"`
	Biased bool    `json:"biased,omitempty"`

	Other *OtherClock `json:"other,omitempty"` // the same runs on a clock that was read beside and could decide

	Unsteady int    `json:"unsteady,omitempty"` // rounds in which the warm-up found no end
	Error    string `json:"error,omitempty"`    // why nothing can be said

	step float64 // the smallest change that the timer can show, as a share
}

// OtherClock is the paired spread of a case on a clock that does not decide.
type OtherClock struct {
	Timer  measure.Timer `json:"timer"`
	Paired float64       `json:"paired"`
}

// NewNoise reads the noise from a run that measured the candidate against itself. kept is what is known of
// the same code on this testbed, this run included: of each case the logarithms of the ratios of the sides. Nil is
// for a run of which nothing was kept: then it alone counts.
func NewNoise(run *measure.Run, p ratchet.Policy, kept map[string][]float64) Noise {
	var n Noise
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
	ratios := map[string][]float64{}
	runs := []*measure.Run{run}
	for _, e := range ratchet.Gather(runs, runs, suite.Base, suite.Candidate) {
		ratios[e.Case.Name()] = e.LogRatios()
	}
	for _, c := range run.Cases {
		if c.Implementation == suite.Candidate && c.Metric == "" {
			p := pairs{base: again[c.Name()], candidate: c, dropped: dropped, onHost: run.Device.Kind == gpu.CPU}
			n.Cases = append(n.Cases, p.noise(ratios[c.Name()]))
		}
	}
	if kept == nil {
		kept = ratios
	}
	for _, list := range kept {
		n.Kept += len(list)
	}
	n.Dependence = bench.Dependence(kept)
	p.Dependence = n.Dependence
	n.Prospects = prospects(p, n.judged(), kept)
	return n
}
