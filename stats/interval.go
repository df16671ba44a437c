package stats

// Interval is a range that is thought to hold a value. Whoever makes it says how
// sure that is.
type Interval struct {
	Low, High float64
}

// Width is the length of the interval.
func (i Interval) Width() float64 { return i.High - i.Low }

// Holds tells whether v lies in the interval, ends included.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

// Overlaps tells whether the intervals share a value, ends included.
func (i Interval) Overlaps(o Interval) bool { return i.Low <= o.High && o.Low <= i.High }

// widened is the interval with half a step of the timer more at each end: a
// value that was read as v lies anywhere within half a step of v.
func (i Interval) widened(quantum float64) Interval {
	half := max(quantum, 0) / 2
	return Interval{i.Low - half, i.High + half}
}
