package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// What is handed on piece by piece is what the series have, commits and all, and nothing
// of another project.
func TestEachPoint(t *testing.T) {
	s, _ := opened(t)
	project, _ := history(t, s, "kernels", 6, 3)
	history(t, s, "foreign", 2, 1)
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(4, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[int64][]client.StoredPoint{}, map[int64][]client.StoredPoint{}
	for _, series := range list {
		if want[series.ID], err = s.Points(t.Context(), project, series.ID, pointstore.Range{}); err != nil {
			t.Fatal(err)
		}
	}
	err = s.EachPoint(t.Context(), project, func(series client.Series, points []client.StoredPoint) error {
		if series.Name == "" || points[0].Commit == "" {
			t.Errorf("%+v %+v", series, points[0])
		}
		got[series.ID] = append(got[series.ID], points...)
		return nil
	})
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(list) == 0 {
		t.Error(err, diff)
	}
	stop := errors.New("stop")
	if err := s.EachPoint(t.Context(), project, func(client.Series, []client.StoredPoint) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("who gets the points cannot stop it: %v", err)
	}
}

// A long series comes in pieces, whole and in order; one without points is not called for.
func TestEachPointOfLongSeries(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	list := seriesRows(t, url, project, 3)
	points := somePoints(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 5000, 1)
	hot(t, url, project, list[0], points)
	hot(t, url, project, list[2], points[:2])
	got, pieces := map[int64][]int64{}, map[int64]int{}
	err := s.EachPoint(t.Context(), project, func(series client.Series, points []client.StoredPoint) error {
		pieces[series.ID]++
		for _, p := range points {
			got[series.ID] = append(got[series.ID], p.Report)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int64][]int64{list[0]: reports(points), list[2]: reports(points[:2])}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int64]int{list[0]: 2, list[2]: 1}, pieces); diff != "" {
		t.Error(diff)
	}
}
