package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// unplaced is a report that does not know when its commit was made.
func unplaced(n int) *client.Report {
	r := reportNo(n, 3)
	r.Commit.At = nil
	return r
}

// telling is a report of another commit whose history names commits with their times.
func telling(n int, commits ...int) *client.Report {
	r := reportNo(n, 1)
	r.Suite = "other"
	for _, c := range commits {
		at := placeOf(c)
		r.History = append(r.History, client.Commit{SHA: sha(c), At: &at})
	}
	return r
}

// placeOf is when a commit was made: months before anything was measured.
func placeOf(n int) time.Time {
	return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}

func TestUnknownCommitsAreResolvedLater(t *testing.T) {
	for _, where := range []string{"hot rows", "tiles"} {
		t.Run(where, func(t *testing.T) {
			s, url := opened(t)
			p := projectNamed(t, s, "kernels")
			for n := range 20 {
				if n%2 == 0 {
					ingest(t, s, p, unplaced(n), client.Main)
				} else {
					ingest(t, s, p, reportNo(n, 3), client.Main)
				}
			}
			conn := owner(t, url)
			if where == "tiles" {
				if done, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: p, Before: noon.AddDate(1, 0, 0)}); err != nil || done.Points != 60 {
					t.Fatal(done, err)
				}
			}
			must(t, conn, `delete from pawl.dirty`)
			must(t, conn, `insert into pawl.trend_state (project_id, series_id, version, points, last_at, last, noise, two_speeds, state)
				select project_id, id, 1, 1, now(), 1, 0, false, '' from pawl.series`)
			if n, err := s.Resolve(t.Context(), p); err != nil || n != 0 {
				t.Fatalf("nothing is known, and %d were moved: %v", n, err)
			}
			ingest(t, s, p, telling(100, 0, 2, 4, 6, 8, 10), client.Main)
			if n, err := s.Resolve(t.Context(), p); err != nil || n != 6 {
				t.Fatalf("%d reports were moved, want 6: %v", n, err)
			}
			for sql, want := range map[string]int64{
				`select count(*) from pawl.report where not placed`:                                                       4,
				`select count(*) from pawl.report where at < '2026-03-01' and placed`:                                     6,
				`select count(*) from pawl.point where at < '2026-03-01'`:                                                 18,
				`select count(*) + (select coalesce(sum(n), 0) from pawl.tile) from pawl.point`:                           61,
				`select count(*) from pawl.point p join pawl.report r on r.id = p.report_id where p.at <> r.at`:           0,
				`select count(*) from pawl.dirty`:                                                                         7,
				`select count(*) from pawl.trend_state where version = 0`:                                                 3,
				`select count(*) from pawl.point where at = '2026-02-01T02:00:00Z' and value = 1002 and flags = 0 | 2<<2`: 1,
			} {
				if got := ask(t, url, sql); got != want {
					t.Errorf("%s: %d, want %d", sql, got, want)
				}
			}
			// One that comes after its commit was resolved stands in its place at once.
			late := unplaced(0)
			late.Run = "01LATE"
			ingest(t, s, p, late, client.Main)
			if got := ask(t, url, `select count(*) from pawl.report where run = '01LATE' and placed and at = $1`, placeOf(0)); got != 1 {
				t.Error("a commit whose time is known was not placed")
			}
			if problems, err := fsck.Run(t.Context(), s, fsck.Options{Project: p}); err != nil || len(problems) > 1 {
				t.Errorf("%v, %v", problems, err) // the made up state of the finder is one
			}
		})
	}
}

// A stranger's word does not place what the repository measured, and is replaced by it.
func TestAStrangersTimeIsNotBelieved(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	lie := telling(50, 0)
	lie.History[0].Title = "a lie"
	ingest(t, s, p, lie, client.Fork)
	ingest(t, s, p, unplaced(0), client.Main)
	if n, err := s.Resolve(t.Context(), p); err != nil || n != 0 {
		t.Fatalf("a stranger moved %d reports of main: %v", n, err)
	}
	fork := unplaced(0)
	fork.Run = "01FORK"
	ingest(t, s, p, fork, client.Fork) // what strangers say among themselves
	if got := ask(t, url, `select count(*) from pawl.report where run = '01FORK' and at = $1`, placeOf(0)); got != 1 {
		t.Error("a stranger's report does not stand where strangers say")
	}
	truth := telling(51, 0)
	at := placeOf(0).Add(time.Hour)
	truth.History[0].At, truth.History[0].Title = &at, "the truth"
	ingest(t, s, p, truth, client.Main)
	lie.Run = "01AGAIN"
	ingest(t, s, p, lie, client.Fork)
	if got := ask(t, url, `select count(*) from pawl.revision where sha = $1 and at = $2 and title = 'the truth' and lane = 0`, sha(0), at); got != 1 {
		t.Error("the repository's word did not replace the stranger's")
	}
	if n, err := s.Resolve(t.Context(), p); err != nil || n != 1 {
		t.Fatalf("%d reports were moved, want 1: %v", n, err)
	}
}

// More than one transaction moves at a time.
func TestResolveManyReports(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	var all []int
	for n := range 40 {
		r := unplaced(n)
		r.Run = fmt.Sprintf("01MANY%d", n)
		ingest(t, s, p, r, client.Main)
		all = append(all, n)
	}
	ingest(t, s, p, telling(100, all...), client.Main)
	if n, err := s.Resolve(t.Context(), p); err != nil || n != 40 {
		t.Fatalf("%d were moved: %v", n, err)
	}
	if left := ask(t, url, `select count(*) from pawl.point where at > '2026-03-01' and series_id in (select id from pawl.series where suite = 'kernels')`); left != 0 {
		t.Errorf("%d points stayed behind", left)
	}
}
