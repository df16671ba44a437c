package trend

import (
	"math"

	"github.com/goatnote-inc/pawl/stats"
)

// shortStay is the max number of points of a stay at a speed. A longer stay is a level.
const shortStay = 15

// flips reports whether a step at first, between the given levels, is the third in a row between the same
// two levels. One there and back is a change that was reverted, and is reported. The third is a machine, a
// driver or a memory layout with two speeds: the steps are taken back, and what they divided is one part,
// whose noise includes both speeds.
func (w *watch) flips(first int, before, after float64) bool {
	k := len(w.Changes) - 2
	if k < 0 || w.Changes[k].Kind != Step || w.Changes[k+1].Kind != Step || w.Start != w.Changes[k+1].First {
		return false
	}
	there, back := w.Changes[k], w.Changes[k+1]
	low, high := math.Log(there.Before), math.Log(there.After)
	apart := math.Abs(high-low) / 3
	if back.First-there.First > shortStay || first-back.First > shortStay || math.Abs(before-low) > apart || math.Abs(after-high) > apart {
		return false
	}
	w.Changes = w.Changes[:k]
	w.Start, w.Sloped, w.TwoSpeeds = 0, false, true
	if k > 0 {
		w.Start = w.Changes[k-1].First
		if w.Changes[k-1].Kind == Drift {
			w.Start = there.First
		}
	}
	return true
}

// gathers reports whether the values since the last step cluster around two levels, in an order that
// shows no step.
func (w *watch) gathers() bool {
	y := w.clean[max(w.Start, w.Values-100):w.Values]
	if len(y) < 2*minLevelPoints {
		return false
	}
	var often []float64
	for _, m := range stats.Modes(y, 0) {
		if m.Share >= 0.15 {
			often = append(often, m.At)
		}
	}
	return len(often) == 2 && often[1]-often[0] >= leastLog
}
