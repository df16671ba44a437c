package store_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Series that are read in portions, with any limit, have all their points, hot or in tiles.
func TestPointsOf_PortionsAreWhole(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	ids := seriesRows(t, url, project, 5)
	from := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i, n := range []int{700, 3, 0, 30, 300} {
		hot(t, url, project, ids[i], somePoints(from, n, 1))
	}
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: from.Add(400 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	hot(t, url, project, ids[1], somePoints(from.Add(500*time.Hour), 40, 1000))
	want, err := allPoints(t.Context(), s, project, ids)
	if err != nil || len(want) != 4 || len(want[ids[0]]) != 700 || len(want[ids[1]]) != 43 {
		t.Fatalf("%d series: %v", len(want), err)
	}
	for _, most := range []int{1, 2, 40, 41, 300, 1000, math.MaxInt} {
		got := map[int64][]pointcodec.Point{}
		portions := 0
		err := s.DB().InProject(t.Context(), project, func(tx pgx.Tx) error {
			for rest := ids; len(rest) > 0; portions++ {
				points, n, err := pointstore.Of(t.Context(), tx, project, rest, most)
				if err != nil {
					return err
				}
				if n == 0 || len(points) > n {
					t.Fatalf("most %d: %d series, of which %d have points", most, n, len(points))
				}
				for _, id := range rest[:n] {
					if points[id] != nil {
						got[id] = points[id]
					}
				}
				rest = rest[n:]
			}
			return nil
		})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("most %d: %v %s", most, err, diff)
		}
		if one := most == math.MaxInt; one != (portions == 1) {
			t.Errorf("most %d: %d portions", most, portions)
		}
	}
}
