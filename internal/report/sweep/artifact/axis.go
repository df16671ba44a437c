package artifact

import (
	"math"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/report"
)

// axis maps values to positions. It is logarithmic if values differ by more than fewTimes,
// because then ratios matter.
type axis struct {
	low, high  float64 // values at the ends
	from, to   float64 // positions of the ends
	logarithms bool
}

// fewTimes is the max ratio of values on a linear axis.
const fewTimes = 4

// newAxis returns an axis that covers all values, with a small margin. Values are positive.
func newAxis(values []float64, zero bool, from, to float64) axis {
	a := axis{low: math.Inf(1), from: from, to: to}
	for _, v := range values {
		a.low, a.high = min(a.low, v), max(a.high, v)
	}
	if !(a.high > 0) || !(a.low > 0) || math.IsInf(a.high, 0) {
		a.low, a.high = 0.5, 2
	}
	switch {
	case a.high/a.low > fewTimes:
		a.logarithms = true
		a.low, a.high = a.low/1.15, a.high*1.15
	case zero:
		a.low, a.high = 0, a.high*1.05
	default:
		room := max(0.06*(a.high-a.low), 0.002*a.high)
		a.low, a.high = max(a.low-room, 0), a.high+room
	}
	return a
}

// at returns the position of a value. Values outside the axis are clamped to its end.
func (a axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.logarithms {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return a.from + (a.to-a.from)*min(max(share, 0), 1)
}

// ticks returns round values.
func (a axis) ticks() []float64 {
	if !a.logarithms {
		return report.Ticks(a.low, a.high, 7)
	}
	steps := []float64{1, 2, 5}
	if a.high/a.low > 1e4 {
		steps = steps[:1]
	}
	var list []float64
	for power := math.Floor(math.Log10(a.low)); power <= math.Log10(a.high); power++ {
		for _, s := range steps {
			if v := s * math.Pow(10, power); v >= a.low && v <= a.high {
				list = append(list, v)
			}
		}
	}
	return list
}

// short formats a tick without insignificant digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
