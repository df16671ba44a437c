package web

import (
	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// Thin reduces a history to what a chart with this many buckets can show: the extremes of each bucket, and
// where the baseline moved.
func Thin(points []client.StoredPoint, buckets int) []client.StoredPoint {
	return pointcodec.Downsample(points, buckets, func(p client.StoredPoint) pointcodec.Extent {
		return pointcodec.Extent{At: p.At.UnixMicro(), Low: p.Low, High: p.High, Moved: p.Moved}
	})
}
