package integrity

import (
	"math"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Line is a line fitted through readings of the outside clock: the time of each run, and the
// overhead of asking for them. Times are nanoseconds.
type Line struct {
	Run    float64 // slope: time of one more run
	Asking float64 // intercept: overhead whatever the number of runs
	Bent   float64 // median distance of readings from the line, relative to the line
}

// MinSizes is the min number of different batch sizes for a line. Two would fit any false timing.
const MinSizes = 4

// Fit fits a line through readings. It uses medians (Theil and Sen), since single readings on a
// shared machine can be far off. It returns false if there are too few sizes.
func Fit(o *measure.OutsideTiming) (Line, bool) {
	if o == nil || len(o.Runs) != len(o.Times) {
		return Line{}, false
	}
	sizes := map[int]bool{}
	var slopes []float64
	for i, a := range o.Runs {
		sizes[a] = true
		for j, b := range o.Runs[:i] {
			if a != b {
				slopes = append(slopes, (o.Times[i]-o.Times[j])/float64(a-b))
			}
		}
	}
	if len(sizes) < MinSizes {
		return Line{}, false
	}
	l := Line{Run: stats.Median(slopes)}
	rests := make([]float64, len(o.Runs))
	for i, k := range o.Runs {
		rests[i] = o.Times[i] - l.Run*float64(k)
	}
	l.Asking = stats.Median(rests)
	for i, k := range o.Runs {
		rests[i] = math.Abs(rests[i]-l.Asking) / (l.Asking + l.Run*float64(k))
	}
	l.Bent = stats.Median(rests)
	return l, true
}

// Bounds of an honest line.
const (
	maxOverheadFixed = 2e6  // a request, a synchronize, an answer: 2 ms is generous
	maxOverheadRuns  = 1.0  // the first run after a pause may cost as much as two
	maxResidual      = 0.25 // half of the readings must be closer than this
)

// Problem returns why readings are not an honest line; empty if they are. A process that sleeps
// when asked for few runs makes the slope smaller and the intercept larger.
func (l Line) Problem() string {
	switch {
	case !(l.Run > 0):
		return "more runs take no more time on pawl's own clock: the runs are not executed"
	case l.Asking > maxOverheadFixed+maxOverheadRuns*l.Run:
		return "few runs take much longer than their share on pawl's own clock: time is spent outside the runs (" + duration(l.Asking) + " per request, " + duration(l.Run) + " per run)"
	case l.Bent > maxResidual:
		return "the time of several runs does not grow in proportion to their number on pawl's own clock"
	default:
		return ""
	}
}
