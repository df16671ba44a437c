package stats

// Interval is a range that is estimated to contain a value. The function that returns it documents the
// confidence.
type Interval struct {
	Low, High float64
}

// Width returns the length of the interval.
func (i Interval) Width() float64 { return i.High - i.Low }

// Contains reports whether v lies in the interval, ends included.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Overlaps reports whether the intervals share a value, ends included.
func (i Interval) Overlaps(o Interval) bool { return i.Low <= o.High && o.Low <= i.High }

// widened returns the interval extended by half a step of the timer at each end: the true value behind
// a reading v lies anywhere within half a step of v.
func (i Interval) widened(quantum float64) Interval {
	half := max(quantum, 0) / 2
	return Interval{i.Low - half, i.High + half}
}
