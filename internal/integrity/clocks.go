package integrity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// How far the samples may be from the clock outside.
const (
	agreeShare = 0.05 // of a run
	agreeTime  = 2000 // nanoseconds: what an event or a launch costs beside the kernel
	agreeSigma = 4.0  // spreads of the rounds' mean: noise is no lie
	// agreeCoarse is a share that no noise explains where only the fastest readings and
	// samples are compared: a busy machine makes both longer, and neither shorter.
	agreeCoarse = 0.35
)

// Clocks says why the samples of a side are not to be believed; empty when pawl's own
// clock agrees with them, or was not read. Where the base was run by the same harness, what
// both sides show is the harness's way of measuring: only the rest is the change's. Runs
// back to back find a warm cache, so that cold samples alone may well be longer.
func Clocks(side, base []measure.CaseRound, cold bool) string {
	own, ok := compare(side)
	if !ok {
		return ""
	}
	other, both := compare(base)
	if !both {
		other = agreement{ratio: 1, fast: 1}
	}
	spread := agreeSigma * math.Hypot(own.spread, other.spread)
	high := own.ratio-spread > max(1, other.ratio)*(1+agreeShare) || own.fast > max(1, other.fast)*(1+agreeCoarse)
	low := own.ratio+spread < min(1, other.ratio)*(1-agreeShare) || own.fast < min(1, other.fast)*(1-agreeCoarse)
	if !high && (!low || cold && !both) || math.Abs(own.outside-own.samples) < agreeTime {
		return ""
	}
	return fmt.Sprintf("clocks disagree: the samples say %s a run, pawl's own clock outside the process says %s (%.2f times as much, in %d rounds)",
		duration(own.samples), duration(own.outside), own.ratio, own.rounds)
}

// agreement is the clock outside against the samples, over rounds.
type agreement struct {
	ratio, spread    float64 // median of the rounds, and its standard error
	fast             float64 // the same of the fastest readings and samples of all rounds
	outside, samples float64 // nanoseconds a run
	rounds           int
}

// medianToMean is how much wider a median's error is than a mean's.
const medianToMean = 1.2533

// leastRounds is how many rounds can show a spread.
const leastRounds = 3

func compare(rounds []measure.CaseRound) (agreement, bool) {
	var ratios, outside, samples, errors, every []float64
	all := &measure.Outside{}
	for _, r := range rounds {
		line, ok := Fit(r.Outside)
		if !ok || r.Error != "" || len(r.Samples) == 0 {
			continue
		}
		// A clock that is asked once for many runs sees their mean, and samples may have
		// two modes: whichever of mean and median is nearer speaks for them.
		s := nearest(line.Run, stats.Mean(r.Samples), stats.Median(r.Samples))
		ratios, errors = append(ratios, line.Run/s), append(errors, line.Error/s)
		outside, samples = append(outside, line.Run), append(samples, s)
		every = append(every, r.Samples...)
		all.Runs, all.Times = append(all.Runs, r.Outside.Runs...), append(all.Times, r.Outside.Times...)
	}
	if len(ratios) < leastRounds {
		return agreement{}, false
	}
	a := agreement{ratio: stats.Median(ratios), fast: 1, outside: stats.Median(outside), samples: stats.Median(samples), rounds: len(ratios)}
	if line, ok := Fit(fastest(all)); ok {
		a.fast = line.Run / nearest(line.Run, stats.Quantile(every, 1.0/fastShare), stats.Mean(every))
	}
	off := make([]float64, len(ratios))
	for i, r := range ratios {
		off[i] = math.Abs(r - a.ratio)
	}
	// Few rounds can be alike by chance: what the readings of one tell counts as well,
	// and fewer rounds need more distance.
	n := float64(len(off))
	a.spread = medianToMean * (1 + 3/n) * max(madToSD*stats.Median(off), stats.Median(errors)) / math.Sqrt(n)
	return a, true
}

func nearest(to, a, b float64) float64 {
	if math.Abs(math.Log(to/a)) < math.Abs(math.Log(to/b)) {
		return a
	}
	return b
}

// Asked says why the clock outside itself cannot be believed, for a side that it
// scores: its readings are no honest line. All rounds are taken together, and of batch
// sizes that are alike the fastest readings: a busy machine makes answers late, and never
// early.
func Asked(rounds []measure.CaseRound) string {
	all := &measure.Outside{}
	for _, r := range rounds {
		if r.Outside != nil && len(r.Outside.Runs) == len(r.Outside.Times) {
			all.Runs, all.Times = append(all.Runs, r.Outside.Runs...), append(all.Times, r.Outside.Times...)
		}
	}
	line, ok := Fit(fastest(all))
	if !ok {
		return ""
	}
	return line.Straight()
}

// strata are how many groups of batch sizes are told apart, fastShare how many of
// each are taken.
const (
	strata    = 6
	fastShare = 4
)

// fastest keeps a quarter of the readings: of each group of sizes, those with the
// least time a run.
func fastest(o *measure.Outside) *measure.Outside {
	order := make([]int, len(o.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(o.Runs[a], o.Runs[b]) })
	kept := &measure.Outside{Clock: o.Clock}
	perRun := func(i int) float64 { return o.Times[i] / float64(max(o.Runs[i], 1)) }
	for s := range strata {
		group := order[s*len(order)/strata : (s+1)*len(order)/strata]
		slices.SortFunc(group, func(a, b int) int { return cmp.Compare(perRun(a), perRun(b)) })
		for _, i := range group[:(len(group)+fastShare-1)/fastShare] {
			kept.Runs, kept.Times = append(kept.Runs, o.Runs[i]), append(kept.Times, o.Times[i])
		}
	}
	return kept
}

func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.3g s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	default:
		return fmt.Sprintf("%.3g us", ns/1e3)
	}
}
