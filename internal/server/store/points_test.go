package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/measure"
)

// Ranges cut across tiles and hot rows as if there were no difference.
func TestPointsInRange(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	from := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	points := somePoints(from, 1500, 1) // to the beginning of November
	points[700].Low = 1
	hot(t, url, project, 7, points)
	hot(t, url, project, 8, points[:3])
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: from.Add(1000 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	hour := func(n int) time.Time { return from.Add(time.Duration(n) * time.Hour) }
	for name, c := range map[string]struct {
		r    pointstore.Range
		want []pointcodec.Point
	}{
		"all":                  {pointstore.Range{}, points},
		"the last":             {pointstore.Range{Last: 10}, points[1490:]},
		"the last across":      {pointstore.Range{Last: 900}, points[600:]},
		"more than there are":  {pointstore.Range{Last: 5000}, points},
		"between, in tiles":    {pointstore.Range{From: hour(100), To: hour(110)}, points[100:111]},
		"between, across":      {pointstore.Range{From: hour(990), To: hour(1010)}, points[990:1011]},
		"the last of the past": {pointstore.Range{To: hour(999), Last: 300}, points[700:1000]},
		"from on":              {pointstore.Range{From: hour(1400)}, points[1400:]},
		"before the first":     {pointstore.Range{To: from.Add(-time.Second)}, nil},
		"after the last":       {pointstore.Range{From: hour(1501)}, nil},
		"in buckets":           {pointstore.Range{Buckets: 20}, pointcodec.Downsample(points, 20, pointcodec.Point.Extent)},
	} {
		if diff := cmp.Diff(reports(c.want), reportsKept(t, s, project, 7, c.r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := reportsKept(t, s, project, 9, pointstore.Range{}); got != nil {
		t.Errorf("a series that is not there has points %v", got)
	}
	many, err := allPoints(t.Context(), s, project, []int64{8, 7, 9})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int64][]pointcodec.Point{7: points, 8: points[:3]}, many); diff != "" {
		t.Error(diff)
	}
}

func TestPointsSayWhatTheReportSaid(t *testing.T) {
	s, _ := opened(t)
	project := projectNamed(t, s, "kernels")
	r := reportNo(1, 1)
	r.Points[0].Moved = true
	receipt := ingest(t, s, project, r, client.Main)
	list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, where := range []string{"hot", "in a tile"} {
		got, err := s.Points(t.Context(), project, list[0].ID, pointstore.Range{})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Points[0]
		want := []client.StoredPoint{{
			At: *r.Commit.At, Report: receipt.Report, Commit: r.Commit.SHA, Value: float32(p.Value), Low: float32(p.Low), High: float32(p.High),
			Spread: float32(p.Spread), Rounds: p.Rounds, Baseline: float32(p.Baseline), Moved: true, Trust: measure.Checked, Verdict: "maintained",
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
		if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: noon}); err != nil {
			t.Fatal(err)
		}
	}
}
