package doctor

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/noise"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// noisy is the spread within a round above which a case is reported as noisy.
const noisy = 0.12

// Noise describes how much the same code differs from itself on a machine.
type Noise struct {
	Rounds int         `json:"rounds"` // rounds that were not dropped
	Cases  []CaseNoise `json:"cases"`

	Kept       int                `json:"kept"` // rounds of the same code on this testbed, over all cases and runs
	Dependence ratchet.Dependence `json:"dependence,omitempty"`
	// Prospects are those of the quietest and the noisiest case; empty if too little was measured.
	Prospects []GateForecast `json:"prospects,omitempty"`
}

// CaseNoise is the noise of one case. Spreads are standard deviations of logarithms: 0.01 is one percent.
type CaseNoise struct {
	Case   string        `json:"case"`
	Timer  measure.Timer `json:"timer,omitempty"`
	Rounds int           `json:"rounds"` // rounds in which both sides were measured

	Within  float64 `json:"within"`  // coefficient of variation in a round, median over rounds
	Between float64 `json:"between"` // spread of the medians of rounds
	Paired  float64 `json:"paired"`  // spread of the ratio of the two sides of a round
	Noisy   bool    `json:"noisy,omitempty"`

	Lag    float64 `json:"lag"`              // lag-1 autocorrelation of the ratios
	Wild   int     `json:"wild"`             // rounds that are far from the others
	Speeds int     `json:"speeds,omitempty"` // number of clusters of medians; 0 if there are too few medians

	// Offset is how much slower the candidate was than itself as the base, on average;
	// Biased means that this is not chance.
	Offset float64 `json:"offset"`
	Biased bool    `json:"biased,omitempty"`

	Other *OtherClock `json:"other,omitempty"` // same runs on another clock that was also read and could decide

	Unsteady int    `json:"unsteady,omitempty"` // rounds in which the warm-up did not converge
	Error    string `json:"error,omitempty"`    // why there is no result

	step float64 // smallest change that the timer can show, as a share
}

// OtherClock is the paired spread of a case on a clock that does not decide.
type OtherClock struct {
	Timer  measure.Timer `json:"timer"`
	Paired float64       `json:"paired"`
}

// NewNoise computes the noise of a run that measured the candidate against itself. kept holds all
// stored results of the same code on this testbed, including this run: for each case the logarithms
// of the ratios of the sides. If it is nil, only this run counts.
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
	n.Dependence = noise.Dependence(kept)
	p.Dependence = n.Dependence
	n.Prospects = prospects(p, n.measuredCases(), kept)
	return n
}
