package integrity

import (
	"math"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Line is what readings of the clock outside say: each run takes so long, and asking
// for them so long beside. Times are nanoseconds.
type Line struct {
	Run    float64 // the slope: what one more run costs
	Asking float64 // the intercept: what is spent however many runs there are
	Bent   float64 // how far readings lie off the line, as a share of what they read
}

// LeastSizes is how many different batch sizes a line needs. Two would fit any lie.
const LeastSizes = 4

// Fit lays a line through readings. It goes by medians (Theil and Sen), since single
// readings on a shared machine can be anything. False if there are too few sizes.
func Fit(o *measure.Outside) (Line, bool) {
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
	if len(sizes) < LeastSizes {
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
	askingFixed = 2e6  // a request, a synchronise, an answer: two milliseconds are many
	askingRuns  = 1.0  // and the first run after a pause may cost as much as two
	bentMost    = 0.25 // half of the readings lie closer than this
)

// Straight says why readings are no honest line; empty when they are one. Who sleeps
// when asked for few runs makes the slope smaller, and the intercept larger.
func (l Line) Straight() string {
	switch {
	case !(l.Run > 0):
		return "more runs take no more time on pawl's own clock: they are not made"
	case l.Asking > askingFixed+askingRuns*l.Run:
		return "few runs take much longer than their share on pawl's own clock: time is spent where it does not count (" + duration(l.Asking) + " for asking, " + duration(l.Run) + " a run)"
	case l.Bent > bentMost:
		return "the time of several runs does not grow with their number on pawl's own clock"
	default:
		return ""
	}
}
