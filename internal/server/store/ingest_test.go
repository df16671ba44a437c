package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
	"github.com/goatnote-inc/pawl/measure"
)

func TestIngestKeepsAReportOnce(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	first := ingest(t, s, p, reportNo(0, 5), client.Main)
	if first.Again || first.Points != 5 || first.Lane != client.Main || !first.Received.Equal(noon) {
		t.Errorf("the first receipt is %+v", first)
	}
	again := ingest(t, s, p, reportNo(0, 5), client.Main)
	want := first
	want.Again = true
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("the second receipt (-want +got):\n%s", diff)
	}
	other := incoming(reportNo(0, 5), client.Main)
	other.Body = sha256.Sum256([]byte("other"))
	if _, err := s.Ingest(t.Context(), p, other); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same key with another body: %v", err)
	}
	for table, n := range map[string]int64{"receipt": 1, "report": 1, "point": 5, "dirty": 1, "series": 5, "testbed": 1, "revision": 1} {
		if got := ask(t, url, "select count(*) from pawl."+table); got != n {
			t.Errorf("%d rows of %s, want %d", got, table, n)
		}
	}
	if got := ask(t, url, `select count(*) from pawl.point where at = $1 and flags = 0 | 2<<2 and baseline = 1000`, reportNo(0, 0).Commit.At); got != 5 {
		t.Errorf("%d points stand at their commit with their flags, want 5", got)
	}
	if got := ask(t, url, `select count(*) from pawl.report where placed and lane = 0 and sender = '{"key": "1"}' and verdict = 'maintained'`); got != 1 {
		t.Errorf("the report does not say what it was sent")
	}
}

// However many send a report at once, it is stored once, and all get its receipt.
func TestIngestAtOnce(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	const reports, times = 20, 4
	var receipts [reports][times]client.Receipt
	var all sync.WaitGroup
	for n := range reports {
		for m := range times {
			all.Go(func() {
				r := reportNo(n, 30)
				for k := range 40 { // all tell of the same new commits
					at := noon.Add(-time.Duration(k) * time.Minute)
					r.History = append(r.History, client.Commit{SHA: sha(1000 + (k*7+n)%40), At: &at})
				}
				got, err := s.Ingest(t.Context(), p, incoming(r, client.Main))
				if err != nil {
					t.Error(err)
				}
				receipts[n][m] = got
			})
		}
	}
	all.Wait()
	for n := range receipts {
		fresh := 0
		for _, r := range receipts[n] {
			if !r.Again {
				fresh++
			}
			if r.Report != receipts[n][0].Report {
				t.Errorf("report %d has two numbers", n)
			}
		}
		if fresh != 1 {
			t.Errorf("report %d was new %d times", n, fresh)
		}
	}
	if got := ask(t, url, `select count(*) from pawl.point`); got != reports*30 {
		t.Errorf("%d points, want %d", got, reports*30)
	}
	if got := ask(t, url, `select count(*) from pawl.revision where at is not null`); got != reports+40 {
		t.Errorf("%d commits, want %d", got, reports+40)
	}
}

// What cannot be kept is the sender's fault, and leaves no row.
func TestIngestRefuses(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	ingest(t, s, p, reportNo(0, 2), client.Main)
	before := rowCounts(t, url)
	digest := strings.Repeat("ab", 32)
	for name, change := range map[string]func(r *client.Report){
		"a case twice":              func(r *client.Report) { r.Points[1] = r.Points[0] },
		"a case in two spellings":   func(r *client.Report) { r.Points[1] = r.Points[0]; r.Points[1].Metric = measure.MetricTime },
		"another unit":              func(r *client.Report) { r.Points[0].Unit = "us" },
		"too large a number":        func(r *client.Report) { r.Points[0].High = 1e39 },
		"no number":                 func(r *client.Report) { r.Points[0].High = math.NaN() },
		"a zero byte":               func(r *client.Report) { r.Sentence = "a\x00b" },
		"half a character":          func(r *client.Report) { r.Branch = "\xff" },
		"no such trust":             func(r *client.Report) { r.Trust = "blind" },
		"no such verdict":           func(r *client.Report) { r.Points[0].Verdict = "fine" },
		"a time long ago":           func(r *client.Report) { at := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC); r.Commit.At = &at },
		"a time to come":            func(r *client.Report) { at := noon.AddDate(20, 0, 0); r.Commit.At = &at },
		"a digest that is none":     func(r *client.Report) { r.Blobs = []client.Blob{{Digest: "../etc"}} },
		"too many rounds":           func(r *client.Report) { r.Points[0].Rounds = math.MaxInt },
		"a zero byte in its health": func(r *client.Report) { r.Health.Reasons = []string{"\x00"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := reportNo(1, 2)
			change(r)
			_, err := s.Ingest(t.Context(), p, incoming(r, client.Main))
			if _, ok := errors.AsType[*store.InvalidError](err); !ok {
				t.Errorf("%v, want an InvalidError", err)
			}
			if diff := cmp.Diff(before, rowCounts(t, url)); diff != "" {
				t.Errorf("rows were left (-before +after):\n%s", diff)
			}
		})
	}
	r := reportNo(1, 3) // one new series
	r.Blobs = []client.Blob{{Digest: digest, Size: 1, Kind: client.BlobRecord}}
	_, err := s.Ingest(t.Context(), p, incoming(r, client.Main))
	if missing, ok := errors.AsType[*store.MissingBlobsError](err); !ok || !cmp.Equal(missing.Digests, []string{digest}) {
		t.Errorf("a blob that nobody sent: %v", err)
	}
	r.Points = r.Points[:2] // and one of which all is known
	if _, err = s.Ingest(t.Context(), p, incoming(r, client.Main)); err == nil {
		t.Error("a blob that nobody sent was believed")
	}
	if diff := cmp.Diff(before, rowCounts(t, url)); diff != "" {
		t.Errorf("rows were left (-before +after):\n%s", diff)
	}
	if fresh, err := s.AddBlob(t.Context(), p, digest, 1, client.Main); err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	ingest(t, s, p, r, client.Main)
	if got := ask(t, url, `select count(*) from pawl.report_blob where ordinal = 1 and kind = 'record'`); got != 1 {
		t.Error("the report's blob was not noted")
	}
}

// A report is stored with a mark that it is to be scanned, in one transaction. The scan is requested after the commit,
// once.
func TestIngest_MarksAndRequestsAScan(t *testing.T) {
	url := storetest.URL(t)
	var requests, marked atomic.Int64
	s, err := store.Open(t.Context(), store.Config{URL: url, AllowUnsafe: true}, func(_ context.Context, _ int64) {
		requests.Add(1)
		marked.Store(ask(t, url, `select count(*) from pawl.dirty d join pawl.report r on r.project_id = d.project_id and r.id = d.report_id`))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := projectNamed(t, s, "kernels")
	kept := ingest(t, s, p, reportNo(0, 2), client.Main)
	ingest(t, s, p, reportNo(0, 2), client.Main) // is there already
	conn := owner(t, url)
	if _, err := conn.Exec(t.Context(), fmt.Sprintf(`alter table pawl.dirty add constraint none check (report_id <= %d)`, kept.Report)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ingest(t.Context(), p, incoming(reportNo(1, 2), client.Main)); err == nil {
		t.Error("a report without its mark was kept")
	}
	if reports := ask(t, url, `select count(*) from pawl.report`); reports != 1 || requests.Load() != 1 || marked.Load() != 1 {
		t.Errorf("%d reports, %d requests, of which the first saw %d marks: want one each", reports, requests.Load(), marked.Load())
	}
}

// A partition that was dropped as old and empty comes back when it is needed.
func TestIngestIntoADroppedPartition(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	ingest(t, s, p, reportNo(0, 2), client.Main)
	conn := owner(t, url)
	for _, sql := range []string{`delete from pawl.point`, `select pawl.drop_partition('2026-10-01')`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ingest(t, s, p, reportNo(1, 2), client.Main)
}

// A project that is going takes no report, whatever this process remembers of it.
func TestIngestIntoADeletedProject(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	ingest(t, s, p, reportNo(0, 2), client.Main)
	must(t, owner(t, url), `update pawl.project set deleting = now()`)
	if _, err := s.Ingest(t.Context(), p, incoming(reportNo(1, 2), client.Main)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("while it is going: %v", err)
	}
	if _, err := s.DeleteProject(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ingest(t.Context(), p, incoming(reportNo(2, 2), client.Main)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after it went: %v", err)
	}
	if n := ask(t, url, `select count(*) from pawl.point`); n != 0 {
		t.Errorf("%d points are left", n)
	}
}

func TestQuotas(t *testing.T) {
	now := noon
	s, _ := openedAt(t, func() time.Time { return now })
	p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "small"}, Settings: store.Settings{PointsPerDay: 5, BlobBytes: 100, Series: 3}})
	if err != nil {
		t.Fatal(err)
	}
	quota := func(what string, err error) {
		t.Helper()
		if q, ok := errors.AsType[*store.QuotaError](err); !ok || q.What != what {
			t.Errorf("%v, want a quota of %s", err, what)
		}
	}
	ingest(t, s, p.ID, reportNo(0, 3), client.Main)
	_, err = s.Ingest(t.Context(), p.ID, incoming(reportNo(1, 3), client.Main))
	quota("points per day", err)
	ingest(t, s, p.ID, reportNo(0, 3), client.Main) // what is kept stays kept
	now = now.Add(24 * time.Hour)
	ingest(t, s, p.ID, reportNo(1, 3), client.Main)
	now = now.Add(24 * time.Hour)
	_, err = s.Ingest(t.Context(), p.ID, incoming(reportNo(2, 4), client.Main))
	quota("series", err)
	if err := s.CheckBlobQuota(t.Context(), p.ID, 100, client.Main); err != nil {
		t.Error(err)
	}
	if _, err := s.AddBlob(t.Context(), p.ID, strings.Repeat("ab", 32), 60, client.Main); err != nil {
		t.Fatal(err)
	}
	quota("bytes of blobs", s.CheckBlobQuota(t.Context(), p.ID, 41, client.Main))
	now = now.Add(time.Hour) // counted anew
	quota("bytes of blobs", s.CheckBlobQuota(t.Context(), p.ID, 41, client.Main))
	p.Settings = store.Settings{}
	if err := s.UpdateProject(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, p.ID, reportNo(2, 4), client.Main)
}

// rowCounts are the rows of every table that a report writes.
func rowCounts(t testing.TB, url string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range []string{"receipt", "report", "point", "dirty", "series", "testbed", "revision", "report_blob", "blob"} {
		counts[table] = ask(t, url, "select count(*) from pawl."+table)
	}
	return counts
}
