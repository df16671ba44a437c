package pointcodec

// Extent is what a chart must show of a point.
type Extent struct {
	At        int64
	Low, High float32
	Moved     bool // the baseline moved to it
}

// Extent returns what a chart must show of the point.
func (p Point) Extent() Extent { return Extent{p.At, p.Low, p.High, p.Flags.Moved()} }

// Downsample thins out a sorted history for a chart. It divides the time span into buckets. Of each
// bucket it keeps the first and last point, the one with the lowest low, the one with the highest high,
// and all at which the baseline moved. A line through the result has the outline of the whole. A history
// with no more points than that is returned unchanged.
func Downsample[P any](points []P, buckets int, extent func(P) Extent) []P {
	if buckets < 1 || len(points) <= 4*buckets {
		return points
	}
	first, last := extent(points[0]).At, extent(points[len(points)-1]).At
	// Use floating point: the span times the count may overflow int64.
	width := float64(last-first)/float64(buckets) + 1
	kept := make([]P, 0, 4*buckets+8)
	bucketOf := func(p P) int { return int(float64(extent(p).At-first) / width) }
	for from := 0; from < len(points); {
		bucket := bucketOf(points[from])
		to := from + 1
		for to < len(points) && bucketOf(points[to]) == bucket {
			to++
		}
		kept = appendOutline(kept, points[from:to], extent)
		from = to
	}
	return kept
}

// appendOutline appends the points kept of one bucket, in order.
func appendOutline[P any](kept, bucket []P, extent func(P) Extent) []P {
	var lowest, highest int
	low, high := extent(bucket[0]).Low, extent(bucket[0]).High
	for i, p := range bucket {
		e := extent(p)
		if e.Low < low {
			lowest, low = i, e.Low
		}
		if e.High > high {
			highest, high = i, e.High
		}
	}
	for i, p := range bucket {
		if i == 0 || i == len(bucket)-1 || i == lowest || i == highest || extent(p).Moved {
			kept = append(kept, p)
		}
	}
	return kept
}
