package doctor

import (
	"maps"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// pairs holds the two sides of a case.
type pairs struct {
	base, candidate measure.Case
	dropped         map[int]bool
	onHost          bool // the kernel runs on the host's CPU
}

// falseAlarms is the share of unbiased cases that are called biased.
const falseAlarms = 0.001

// noise describes the case. ratios are the logarithms of candidate over base, one per round.
func (p pairs) noise(ratios []float64) CaseNoise {
	n := CaseNoise{Case: p.candidate.Name(), Timer: p.candidate.Timer}
	var within []float64
	for _, c := range []measure.Case{p.base, p.candidate} {
		for _, r := range p.counted(c) {
			if r.Error != "" {
				n.Error = r.Error
			}
			if r.Unsteady {
				n.Unsteady++
			}
			if cv := stats.CV(r.Samples); !math.IsNaN(cv) { // NaN for a single sample
				within = append(within, bounded(cv))
			}
			n.step = max(n.step, timerStep(r))
		}
	}
	if n.Rounds = len(ratios); n.Rounds < 2 {
		if n.Error == "" {
			n.Error = "fewer than two rounds were measured on both sides"
		}
		return n
	}
	if len(within) > 0 {
		n.Within = stats.Median(within)
	}
	n.Noisy = n.Within > noisy
	n.Between = p.between()
	n.Paired = stats.StdDev(ratios)
	n.Offset = bounded(math.Expm1(stats.Mean(ratios)))
	if se := n.Paired / math.Sqrt(float64(n.Rounds)); se > 0 {
		n.Biased = math.Abs(stats.Mean(ratios))/se > stats.TQuantile(1-falseAlarms/2, float64(n.Rounds-1))
	}
	n.Lag, n.Wild, n.Speeds = stats.Autocorrelation(ratios, 1), ratchet.CountOutliers(ratios), p.speeds()
	if p.onHost {
		n.Other = p.onCPU()
	}
	return n
}

// bounded keeps a share finite: more than a hundredfold change makes no difference.
func bounded(share float64) float64 { return min(share, 100) }

func (p pairs) counted(c measure.Case) []measure.CaseRound {
	return slices.DeleteFunc(slices.Clone(c.Rounds), func(r measure.CaseRound) bool { return p.dropped[r.Round] })
}

func bySamples(r measure.CaseRound) measure.Samples { return r.Samples }

// medians returns the logarithms of a side's medians, by round.
func (p pairs) medians(c measure.Case, clock func(measure.CaseRound) measure.Samples) map[int]float64 {
	m := map[int]float64{}
	for _, r := range p.counted(c) {
		if s := clock(r); len(s) > 0 && stats.Median(s) > 0 {
			m[r.Round] = math.Log(stats.Median(s))
		}
	}
	return m
}

// ratios returns the logarithms of candidate over base, in the order of rounds.
func (p pairs) ratios(clock func(measure.CaseRound) measure.Samples) []float64 {
	base, candidate := p.medians(p.base, clock), p.medians(p.candidate, clock)
	var list []float64
	for _, round := range slices.Sorted(maps.Keys(candidate)) {
		if b, both := base[round]; both {
			list = append(list, candidate[round]-b)
		}
	}
	return list
}

// between returns the spread of medians over rounds, pooled over both sides, each around its own mean.
func (p pairs) between() float64 {
	var squares, sides float64
	for _, c := range []measure.Case{p.base, p.candidate} {
		m := p.medians(c, bySamples)
		var list []float64
		for _, round := range slices.Sorted(maps.Keys(m)) {
			list = append(list, m[round])
		}
		if sd := stats.StdDev(list); !math.IsNaN(sd) {
			squares += sd * sd
			sides++
		}
	}
	return math.Sqrt(squares / max(sides, 1))
}

// modeValues is the min number of medians needed to count their clusters.
const modeValues = 16

// speeds returns the number of clusters of the medians of both sides; 0 if there are too few medians.
func (p pairs) speeds() int {
	var logs []float64
	for _, c := range []measure.Case{p.base, p.candidate} {
		logs = slices.AppendSeq(logs, maps.Values(p.medians(c, bySamples)))
	}
	if len(logs) < modeValues {
		return 0
	}
	return len(stats.Modes(logs, 0))
}

// workShare is the min share of a sample's time that the measuring thread must have worked for its
// CPU time to be meaningful: a thread that only waits for others uses none.
const workShare = 0.25

// onCPU returns the spread of the same runs in CPU time, if that was also read and is time of the kernel.
func (p pairs) onCPU() *OtherClock {
	clock := func(r measure.CaseRound) measure.Samples { return r.CPU }
	ratios := p.ratios(clock)
	if p.candidate.Timer == measure.TimerCPU || len(ratios) < 2 {
		return nil
	}
	own, other := p.medians(p.candidate, bySamples), p.medians(p.candidate, clock)
	for round, m := range other {
		if m-own[round] < math.Log(workShare) {
			return nil
		}
	}
	return &OtherClock{Timer: measure.TimerCPU, Paired: stats.StdDev(ratios)}
}

// timerStep returns the smallest change that the timer can show, as a share of the time.
func timerStep(r measure.CaseRound) float64 {
	if len(r.Samples) == 0 || r.Quantum <= 0 {
		return 0
	}
	return r.Quantum / float64(max(r.Batch, 1)) / stats.Median(r.Samples)
}
