package tile

// Downsample thins out a sorted history for a chart: the time it spans is divided into
// so many buckets, and of each stay the first and the last point, the one with the
// lowest low, the one with the highest high, and all at which the baseline moved. So a
// line through what is left has the outline of the whole. A history that has no more
// points than that would keep is returned as it is.
func Downsample(points []Point, buckets int) []Point {
	if buckets < 1 || len(points) <= 4*buckets {
		return points
	}
	first, last := points[0].At, points[len(points)-1].At
	// In floating point: a span times a count may be more than an int64 holds.
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

// appendOutline appends what stays of one bucket, in order.
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
