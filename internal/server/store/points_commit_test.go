package store_test

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Whoever has not seen a report yet learns its commit: of a series that every run
// measures, and of one between whose runs are more of others than are read at once.
func TestCommitsOfPoints(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	const runs, seldom = 300, 5
	for n := range runs {
		r := reportNo(n, 2)
		if n%seldom != 0 {
			r.Points = r.Points[:1]
		}
		ingest(t, s, project, r, client.Main)
		if n%2 == 0 { // another suite comes between
			r := reportNo(runs+n, 1)
			r.Suite = "other"
			ingest(t, s, project, r, client.Main)
		}
	}
	seen := 0
	for config, want := range map[string]int{"N0": runs, "N1": runs / seldom} {
		fresh, err := store.Open(t.Context(), store.Config{URL: url, Conns: 2, AllowUnsafe: true, Now: func() time.Time { return noon }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fresh.Close()
		list, err := fresh.SeriesList(t.Context(), project, store.SeriesQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, series := range list {
			if series.Config != config || series.Suite != "kernels" {
				continue
			}
			seen++
			points, err := fresh.Points(t.Context(), project, series.ID, pointstore.Range{})
			if err != nil || len(points) != want {
				t.Fatalf("%s: %d points: %v", config, len(points), err)
			}
			for i, p := range points {
				if n := i * runs / want; p.Commit != sha(n) {
					t.Fatalf("%s: point %d is of %s, not of %s", config, i, p.Commit, sha(n))
				}
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d series were looked at", seen)
	}
}
