package web

import (
	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Thin reduces a history to what a chart with this many buckets can show: the extremes of each bucket, and
// where the baseline moved.
func Thin(points []client.StoredPoint, buckets int) []client.StoredPoint {
	if buckets < 1 || len(points) <= 4*buckets {
		return points
	}
	all := make([]pointcodec.Point, len(points))
	for i, p := range points {
		flags, err := pointcodec.Pack(p.Trust, ratchet.Verdict(p.Verdict), p.Moved)
		if err != nil { // an unknown word of a newer server; the outline does not need it
			flags = 0
		}
		all[i] = pointcodec.Point{At: p.At.UnixMicro(), Report: p.Report, Value: p.Value, Low: p.Low, High: p.High, Flags: flags}
	}
	kept := make([]client.StoredPoint, 0, 4*buckets)
	next := 0
	for _, p := range pointcodec.Downsample(all, buckets) {
		for next < len(all) && (all[next].At != p.At || all[next].Report != p.Report) {
			next++
		}
		if next < len(all) {
			kept = append(kept, points[next])
			next++
		}
	}
	return kept
}
