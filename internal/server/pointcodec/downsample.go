package pointcodec

// Downsample thins out a sorted history for a chart. It divides the time span into buckets. Of each
// bucket it keeps the first and last point, the one with the lowest low, the one with the highest high,
// and all at which the baseline moved. A line through the result has the outline of the whole. A history
// with no more points than that is returned unchanged.
func Downsample(points []Point, buckets int) []Point {
	if buckets < 1 || len(points) <= 4*buckets {
		return points
	}
	first, last := points[0].At, points[len(points)-1].At
	// Use floating point: the span times the count may overflow int64.
	width := float64(last-first)/float64(buckets) + 1
	kept := make([]Point, 0, 4*buckets+8)
	for from := 0; from < len(points); {
		bucket := int(float64(points[from].At-first) / width)
		to := from + 1
		for to < len(points) && int(float64(points[to].At-first)/width) == bucket {
			to++
		}
		kept = appendOutline(kept, points[from:to])
		from = to
	}
	return kept
}

// appendOutline appends the points kept of one bucket, in order.
func appendOutline(kept, bucket []Point) []Point {
	lowest, highest := 0, 0
	for i, p := range bucket {
		if p.Low < bucket[lowest].Low {
			lowest = i
		}
		if p.High > bucket[highest].High {
			highest = i
		}
	}
	for i, p := range bucket {
		if i == 0 || i == len(bucket)-1 || i == lowest || i == highest || p.Flags.Moved() {
			kept = append(kept, p)
		}
	}
	return kept
}
