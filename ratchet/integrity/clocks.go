package integrity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// How far the samples may be from the outside clock.
const (
	agreeShare = 0.05 // share of a run
	agreeTime  = 2000 // nanoseconds: cost of an event or a launch beside the kernel
	agreeSigma = 4.0  // standard errors that count as noise
)

// CheckSampleClock returns why the samples of a side cannot be trusted; empty if pawl's own clock agrees with
// them or was not read. If the same harness ran the base, a disagreement on both sides is the
// harness's way of measuring: only the excess counts against the change. Samples above the outside
// clock give no advantage, and can be honest: back-to-back runs find a warm cache.
func CheckSampleClock(side, base []measure.CaseRound) string {
	own, ok := compare(side)
	if !ok {
		return ""
	}
	other, both := compare(base)
	if !both {
		other = agreement{ratio: 1}
	}
	spread := agreeSigma * math.Hypot(own.spread, other.spread)
	if own.ratio-spread <= max(1, other.ratio)*(1+agreeShare) || own.samples*(own.ratio-1) < agreeTime {
		return ""
	}
	return fmt.Sprintf("clocks disagree: the samples say %s per run, pawl's own clock outside the process says %s (%.2f times as much, in %d readings)",
		duration(own.samples), duration(own.samples*own.ratio), own.ratio, own.readings)
}

// agreement compares the outside clock with the samples.
type agreement struct {
	ratio, spread float64 // outside time over samples, and its standard error
	samples       float64 // nanoseconds per run, as reported by the process
	readings      int
}

// minReadings is the min number of readings that show a spread.
const minReadings = 12

// compare divides every reading by the samples taken beside it and fits one line through all of them. Its
// slope is how many times longer a run takes by the outside clock. Readings of a round saw the same machine,
// so the spread is at least that between rounds; a false timer shows in all rounds.
func compare(rounds []measure.CaseRound) (agreement, bool) {
	shares := &measure.OutsideTiming{}
	var samples []float64
	var ends []int // index after the readings of each round
	for _, r := range rounds {
		o := r.Outside
		if o == nil || r.Error != "" || len(o.Runs) != len(o.Times) || len(o.Adjacent) != len(o.Times) {
			continue
		}
		for i, beside := range o.Adjacent {
			if beside > 0 {
				shares.Runs, shares.Times = append(shares.Runs, o.Runs[i]), append(shares.Times, o.Times[i]/beside)
				samples = append(samples, beside)
			}
		}
		ends = append(ends, len(samples))
	}
	line, ok := Fit(shares)
	if !ok || len(samples) < minReadings {
		return agreement{}, false
	}
	a := agreement{samples: stats.Median(samples), readings: len(samples)}
	// The overhead of asking is bounded: anything beyond counts as time of the runs.
	asking := min(max(line.Asking, 0), maxOverheadFixed/a.samples+maxOverheadRuns)
	each := make([]float64, len(shares.Runs))
	for i, k := range shares.Runs {
		each[i] = (shares.Times[i] - asking) / float64(k)
	}
	a.ratio = stats.Median(each)
	var byRound []float64
	for i, begin := 0, 0; i < len(ends); begin, i = ends[i], i+1 {
		if begin < ends[i] {
			byRound = append(byRound, stats.Median(each[begin:ends[i]]))
		}
	}
	n := float64(len(each))
	a.spread = medianToMean * (1 + 3/n) * stats.RobustSD(each) / math.Sqrt(n)
	if r := float64(len(byRound)); r > 1 {
		a.spread = max(a.spread, (1+3/r)*stats.StdDev(byRound)/math.Sqrt(r))
	}
	return a, true
}

// medianToMean is how much wider a median's error is than a mean's, for normal errors.
const medianToMean = 1.2533

// CheckOutsideClock returns why the outside clock itself cannot be trusted, for a side that it scores: its
// readings are not an honest line. All rounds are combined, and of similar batch sizes only the
// fastest readings count, because a busy machine delays answers and never hastens them.
func CheckOutsideClock(rounds []measure.CaseRound) string {
	all := &measure.OutsideTiming{}
	for _, r := range rounds {
		if r.Outside != nil && len(r.Outside.Runs) == len(r.Outside.Times) {
			all.Runs, all.Times = append(all.Runs, r.Outside.Runs...), append(all.Times, r.Outside.Times...)
		}
	}
	line, ok := Fit(fastest(all))
	if !ok {
		return ""
	}
	return line.Problem()
}

// strata is the number of groups of batch sizes; one in fastShare readings of each group is kept.
const (
	strata    = 6
	fastShare = 4
)

// fastest keeps a quarter of the readings: those with the shortest time per run in each group of sizes.
func fastest(o *measure.OutsideTiming) *measure.OutsideTiming {
	order := make([]int, len(o.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(o.Runs[a], o.Runs[b]) })
	kept := &measure.OutsideTiming{Clock: o.Clock}
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
