package pointcodec_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

func TestDownsampleKeepsTheOutline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := anyPoints(1, 200).Draw(t, "points")
		buckets := rapid.IntRange(1, 30).Draw(t, "buckets")
		kept := pointcodec.Downsample(points, buckets, pointcodec.Point.Extent)
		moved := 0
		for _, p := range points {
			if p.Flags.Moved() {
				moved++
				if !slices.ContainsFunc(kept, func(k pointcodec.Point) bool { return same(k, p) }) {
					t.Fatalf("the baseline moved at %d, and it is gone", p.At)
				}
			}
		}
		if len(kept) > 4*buckets+moved && len(kept) != len(points) {
			t.Fatalf("%d points in %d buckets left %d", len(points), buckets, len(kept))
		}
		if !slices.IsSortedFunc(kept, pointcodec.Compare) {
			t.Fatal("not sorted")
		}
		if !same(kept[0], points[0]) || !same(kept[len(kept)-1], points[len(points)-1]) {
			t.Fatal("it does not begin and end where the history does")
		}
		if len(points) <= 4*buckets {
			if len(kept) != len(points) {
				t.Fatal("points were left out of a short history")
			}
			return
		}
		// Every bucket by itself: the definition, written the slow way.
		first, last := points[0].At, points[len(points)-1].At
		width := float64(last-first)/float64(buckets) + 1
		in := func(list []pointcodec.Point, b int) (got []pointcodec.Point) {
			for _, p := range list {
				if int(float64(p.At-first)/width) == b {
					got = append(got, p)
				}
			}
			return got
		}
		for b := range buckets {
			all, some := in(points, b), in(kept, b)
			if len(all) == 0 {
				continue
			}
			low := func(a, b pointcodec.Point) int { return int(sign(a.Low - b.Low)) }
			high := func(a, b pointcodec.Point) int { return int(sign(a.High - b.High)) }
			if slices.MinFunc(all, low).Low != slices.MinFunc(some, low).Low || slices.MaxFunc(all, high).High != slices.MaxFunc(some, high).High {
				t.Fatalf("bucket %d lost an extreme", b)
			}
			if !same(all[0], some[0]) || !same(all[len(all)-1], some[len(some)-1]) {
				t.Fatalf("bucket %d lost an end", b)
			}
		}
	})
}

func sign(f float32) float32 {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}

func TestDownsampleOfOneMoment(t *testing.T) {
	points := make([]pointcodec.Point, 100)
	for i := range points {
		points[i] = pointcodec.Point{At: 5, Report: int64(i), Low: float32(-i), High: float32(i % 50)}
	}
	if kept := pointcodec.Downsample(points, 3, pointcodec.Point.Extent); len(kept) != 3 { // the first, the highest, the last and lowest
		t.Errorf("%d points are left", len(kept))
	}
}
