package pointcodec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxPoints is the maximum number of points in a tile.
const MaxPoints = 256

// Point is a stored point of a series. Time and report together identify it.
type Point struct {
	At       int64 // microseconds since 1970, as in PostgreSQL
	Report   int64
	Value    float32
	Low      float32
	High     float32
	Spread   float32
	Baseline float32 // 0 means none
	Rounds   int32
	Flags    Flags
}

// Time returns the time of the point.
func (p Point) Time() time.Time { return time.UnixMicro(p.At).UTC() }

// Compare orders points by time, then by report.
func Compare(a, b Point) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Report, b.Report))
}

// check refuses points that a tile cannot represent.
func check(points []Point) error {
	if len(points) == 0 || len(points) > MaxPoints {
		return fmt.Errorf("a tile of %d points: must be 1 to %d", len(points), MaxPoints)
	}
	for i, p := range points {
		if i > 0 && Compare(points[i-1], p) >= 0 {
			return fmt.Errorf("point %d of a tile (report %d) does not come after the previous one", i, p.Report)
		}
		if !p.Flags.Valid() || p.Rounds < 0 || p.Report < 0 {
			return fmt.Errorf("point %d of a tile is invalid: flags %d, %d rounds, report %d", i, p.Flags, p.Rounds, p.Report)
		}
		if p.At < minAt || p.At > maxAt {
			return fmt.Errorf("point %d of a tile has the time %d, which is out of range", i, p.At)
		}
		for _, v := range [...]float32{p.Value, p.Low, p.High, p.Spread, p.Baseline} {
			if v != v || math.IsInf(float64(v), 0) {
				return fmt.Errorf("point %d of a tile has a value that is not a finite number: %v", i, v)
			}
		}
	}
	return nil
}

// Bounds of valid times, years 1 to 9999. Differences of times within them do not overflow, and no commit is
// outside.
const (
	minAt = -62135596800000000
	maxAt = 253402300799999999
)

// Merge joins two sorted lists. If both contain a point with the same time and report, the newer list's
// is kept.
func Merge(old, newer []Point) []Point {
	all := make([]Point, 0, len(old)+len(newer))
	for len(old) > 0 && len(newer) > 0 {
		switch c := Compare(old[0], newer[0]); {
		case c < 0:
			all, old = append(all, old[0]), old[1:]
		case c > 0:
			all, newer = append(all, newer[0]), newer[1:]
		default:
			all, old, newer = append(all, newer[0]), old[1:], newer[1:]
		}
	}
	return append(append(all, old...), newer...)
}

// Split divides sorted points among tiles. At the open end of a series, tiles are filled one after the other.
// Elsewhere they get equal sizes, so that late points still fit.
func Split(points []Point, open bool) [][]Point {
	if len(points) == 0 {
		return nil
	}
	size := MaxPoints
	if !open {
		tiles := (len(points) + MaxPoints - 1) / MaxPoints
		size = (len(points) + tiles - 1) / tiles
	}
	return slices.Collect(slices.Chunk(points, size))
}
