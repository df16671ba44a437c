package integrity

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// How far the samples may be from the clock outside.
const (
	agreeShare = 0.05 // of a run
	agreeTime  = 2000 // nanoseconds: what an event or a launch costs beside the kernel
	agreeSigma = 4.0  // spreads of the rounds' mean: noise is no lie
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
	about := 1.0
	other, both := compare(base)
	if both {
		about = other.ratio
		own.spread = math.Hypot(own.spread, other.spread)
	}
	high := own.ratio-agreeSigma*own.spread > max(1, about)*(1+agreeShare)
	low := own.ratio+agreeSigma*own.spread < min(1, about)*(1-agreeShare) && (both || !cold)
	if (!high && !low) || math.Abs(own.outside-own.samples) < agreeTime {
		return ""
	}
	return fmt.Sprintf("clocks disagree: the samples say %s a run, pawl's own clock outside the process says %s (%.2f times as much, in %d rounds)",
		duration(own.samples), duration(own.outside), own.ratio, own.rounds)
}

// agreement is the clock outside against the samples, over rounds.
type agreement struct {
	ratio, spread    float64 // median of the rounds, and its standard error
	outside, samples float64 // nanoseconds a run
	rounds           int
}

// medianToMean is how much wider a median's error is than a mean's.
const medianToMean = 1.2533

// leastRounds is how many rounds can show a spread.
const leastRounds = 3

func compare(rounds []measure.CaseRound) (agreement, bool) {
	var ratios, outside, samples, errors []float64
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
	}
	if len(ratios) < leastRounds {
		return agreement{}, false
	}
	a := agreement{ratio: stats.Median(ratios), outside: stats.Median(outside), samples: stats.Median(samples), rounds: len(ratios)}
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
// scores: in more rounds than not its readings are no honest line.
func Asked(rounds []measure.CaseRound) string {
	lines, crooked, why := 0, 0, ""
	for _, r := range rounds {
		if line, ok := Fit(r.Outside); ok {
			lines++
			if reason := line.Straight(); reason != "" {
				crooked++
				why = reason
			}
		}
	}
	if 2*crooked <= lines {
		return ""
	}
	return why
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
