package store_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// hot writes points of a series as if reports had brought them.
func hot(t testing.TB, url string, project, series int64, points []pointcodec.Point) {
	t.Helper()
	conn := owner(t, url)
	months := map[string]bool{}
	for _, p := range points {
		months[p.Time().Format("2006-01-02")[:8]+"01"] = true
	}
	for m := range months {
		if _, err := conn.Exec(t.Context(), `select pawl.make_partition($1::date)`, m); err != nil {
			t.Fatal(err)
		}
	}
	_, err := conn.CopyFrom(t.Context(), pgx.Identifier{"pawl", "point"},
		[]string{"project_id", "series_id", "at", "report_id", "value", "low", "high", "spread", "baseline", "rounds", "flags"},
		pgx.CopyFromSlice(len(points), func(i int) ([]any, error) {
			p := points[i]
			return []any{project, series, p.Time(), p.Report, p.Value, p.Low, p.High, p.Spread, p.Baseline, p.Rounds, int16(p.Flags)}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
}

// somePoints are n points of made-up reports, hours apart from a time on.
func somePoints(from time.Time, n int, report int64) []pointcodec.Point {
	points := make([]pointcodec.Point, n)
	for i := range points {
		v := float32(1000 + (i*37)%101)
		points[i] = pointcodec.Point{
			At: from.Add(time.Duration(i) * time.Hour).UnixMicro(), Report: report + int64(i),
			Value: v, Low: v - 5, High: v + 5, Spread: 0.01, Baseline: 1000, Rounds: 8, Flags: 1,
		}
	}
	return points
}

// reports are those of points, in order: what tells them apart.
func reports(points []pointcodec.Point) (list []int64) {
	for _, p := range points {
		list = append(list, p.Report)
	}
	return list
}

func reportsKept(t testing.TB, s *store.Store, project, series int64, r pointstore.Range) (list []int64) {
	t.Helper()
	points, err := s.Points(t.Context(), project, series, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		list = append(list, p.Report)
	}
	return list
}

// Points arrive in any order and are compacted up to any time, in portions of any size:
// what is read is always what arrived, and tiles never overlap.
func TestCompactKeepsEveryPoint(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	rng := rand.New(rand.NewPCG(8, 1))
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	model := map[int64][]pointcodec.Point{}
	report, tiles := int64(0), 0
	for range 14 {
		for series := int64(1); series <= 3; series++ {
			// Mostly after what is there, sometimes long before, sometimes all at one time.
			from := begin.Add(time.Duration(rng.IntN(4000)) * time.Hour)
			some := somePoints(from, rng.IntN(200), report)
			report += 1000
			if rng.IntN(4) == 0 {
				for i := range some {
					some[i].At = from.UnixMicro()
				}
			}
			hot(t, url, project, series, some)
			model[series] = pointcodec.Merge(model[series], some)
		}
		done, err := s.Compact(t.Context(), pointstore.CompactOptions{
			Project: project, Before: begin.Add(time.Duration(rng.IntN(5000)) * time.Hour), Batch: 1 + rng.IntN(150),
		})
		if err != nil {
			t.Fatal(err)
		}
		tiles += done.Tiles
		for series, want := range model {
			if diff := cmp.Diff(reports(want), reportsKept(t, s, project, series, pointstore.Range{})); diff != "" {
				t.Fatalf("series %d after %d compacted: %s", series, done.Points, diff)
			}
		}
	}
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: noon.AddDate(1, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	if left := ask(t, url, `select count(*) from pawl.point`); left != 0 || tiles < 20 {
		t.Errorf("%d points are still hot; %d tiles were written", left, tiles)
	}
	all, err := allPoints(t.Context(), s, project, []int64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(model, all); diff != "" {
		t.Errorf("bits were lost: %s", diff)
	}
	if n := ask(t, url, `select count(*) from pawl.tile where n > 256 or n < 1`); n > 0 {
		t.Errorf("%d tiles have too many points or none", n)
	}
	if n := ask(t, url, `select count(*) from pawl.tile a join pawl.tile b using (project_id, series_id)
		where (a.first_at, a.first_report) < (b.first_at, b.first_report) and a.last_at > b.first_at`); n > 0 {
		t.Errorf("%d tiles overlap", n)
	}
}

// A tile that has room is filled before a new one is begun.
func TestCompactFillsTheOpenTile(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	points := somePoints(noon.AddDate(0, -3, 0), 600, 1)
	for part := range slices.Chunk(points, 100) {
		hot(t, url, project, 1, part)
		if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: project, Before: noon}); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask(t, url, `select count(*) from pawl.tile`); n != 3 {
		t.Errorf("600 points rest in %d tiles, want 3", n)
	}
}

// Reports arrive while two compactors work: a reader never sees fewer points than it saw
// before, and none is lost or there twice.
func TestCompactWhileReportsArrive(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	const writers, each, cases = 4, 25, 5
	ingest(t, s, project, reportNo(0, cases), client.Main) // so that readers know a series
	list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{})
	if err != nil || len(list) != cases {
		t.Fatalf("%d series: %v", len(list), err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var work, others sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				if _, err := s.Ingest(ctx, project, incoming(reportNo(1+i*writers+w, cases), client.Main)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.Compact(ctx, pointstore.CompactOptions{Project: project, Before: noon.AddDate(1, 0, 0), Batch: 7}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	others.Go(func() {
		for seen := 0; ctx.Err() == nil; {
			points, err := s.Points(ctx, project, list[0].ID, pointstore.Range{})
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			if len(points) < seen {
				t.Errorf("a reader saw %d points after %d", len(points), seen)
			}
			seen = len(points)
		}
	})
	others.Go(func() { // who looks whether all is well is not led astray
		for ctx.Err() == nil {
			problems, err := fsck.Run(ctx, s, fsck.Options{Project: project})
			if (err != nil || len(problems) > 0) && ctx.Err() == nil {
				t.Errorf("fsck meanwhile: %v, %v", problems, err)
			}
		}
	})
	work.Wait()
	stop()
	others.Wait()
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: project, Before: noon.AddDate(1, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	if n := ask(t, url, `select sum(n) from pawl.tile`); n != (1+writers*each)*cases {
		t.Errorf("%d points rest in tiles, want %d", n, (1+writers*each)*cases)
	}
	clean(t, s)
}

// A compaction whose connection is cut at any moment leaves every point in one place.
func TestCompactInterrupted(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	points := somePoints(noon.AddDate(0, -3, 0), 1200, 1)
	hot(t, url, project, 1, points)
	rng := rand.New(rand.NewPCG(3, 3))
	conn := owner(t, url)
	cut := 0
	for range 40 {
		done := make(chan error, 1)
		go func() {
			_, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: project, Before: noon, Batch: 30})
			done <- err
		}()
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
		if _, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`); err != nil {
			t.Fatal(err)
		}
		if <-done != nil {
			cut++
		}
		if n := ask(t, url, `select (select count(*) from pawl.point) + (select coalesce(sum(n), 0) from pawl.tile)`); n != int64(len(points)) {
			t.Fatalf("%d points are kept of %d after %d cuts", n, len(points), cut)
		}
	}
	t.Logf("%d of 40 compactions were cut", cut)
	s, err := store.Open(t.Context(), store.Config{URL: url, AllowUnsafe: true}, nil) // with connections that live
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: project, Before: noon}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reports(points), reportsKept(t, s, project, 1, pointstore.Range{})); diff != "" {
		t.Error(diff)
	}
}

// clean fails where fsck finds anything.
func clean(t testing.TB, s *store.Store) {
	t.Helper()
	problems, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

func TestPartitionsAheadAndBehind(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	project := projectNamed(t, s, "kernels")
	hot(t, url, project, 1, somePoints(time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC), 100, 1)) // March and April
	done, err := s.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := pointstore.Partitioned{Made: []string{"2026-11", "2026-12", "2027-01", "2027-02"}}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Fatal(diff)
	}
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if done, err = s.Partitions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pointstore.Partitioned{Dropped: []string{"2026-03", "2026-04"}}, done); diff != "" {
		t.Error(diff)
	}
	if n := len(reportsKept(t, s, project, 1, pointstore.Range{})); n != 100 {
		t.Errorf("%d points are left of 100", n)
	}
}

func TestHotSince(t *testing.T) {
	for now, want := range map[string]string{
		"2026-11-15T12:00:00Z": "2026-11-01", "2026-11-11T00:00:00Z": "2026-11-01",
		"2026-11-10T23:00:00Z": "2026-10-01", "2027-01-05T00:00:00+02:00": "2026-12-01",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := pointstore.CompactBefore(at).Format("2006-01-02"); got != want {
			t.Errorf("%s: %s, want %s", now, got, want)
		}
	}
}

// A tile that was tampered with is an error, never fewer points.
func TestDamagedTileIsAnError(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	hot(t, url, project, 1, somePoints(noon.AddDate(0, -3, 0), 300, 1))
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := owner(t, url).Exec(t.Context(), `update pawl.tile set data = set_byte(data, 100, get_byte(data, 100) # 1)`); err != nil {
		t.Fatal(err)
	}
	_, err := s.Points(t.Context(), project, 1, pointstore.Range{})
	if err == nil || !strings.Contains(err.Error(), "checksum") || !strings.Contains(err.Error(), "fsck") {
		t.Errorf("read a damaged tile: %v", err)
	}
}
