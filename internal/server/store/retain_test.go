package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// bucket notes whose bytes were removed.
type bucket struct {
	mu   sync.Mutex
	gone []string
}

func (b *bucket) drop(_ context.Context, _ int64, digest string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = append(b.gone, digest)
	return nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// withSamples adds raw samples and a record to a report.
func withSamples(t testing.TB, s *store.Store, project int64, r *client.Report) *client.Report {
	t.Helper()
	for _, kind := range []client.BlobKind{client.BlobSamples, client.BlobRecord} {
		d := digest(r.Run + string(kind))
		if _, err := s.AddBlob(t.Context(), project, d, 100, client.Main); err != nil {
			t.Fatal(err)
		}
		r.Blobs = append(r.Blobs, client.Blob{Digest: d, Size: 100, Kind: kind})
	}
	return r
}

func TestRetainRunsOfBranches(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	const cases = 3
	for i := range 40 { // one an hour, from 30 days ago on
		lane := []client.Lane{client.Main, client.Branch, client.Fork}[i%3]
		ingest(t, s, project, reportNo(i, cases), lane)
	}
	// Half of what goes is in tiles, with points that stay.
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(25, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	p, err := s.ProjectByID(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.Retain(t.Context(), store.RetainOptions{}); err != nil || done != (store.Retained{}) {
		t.Fatalf("without a setting: %+v, %v", done, err)
	}
	p.Settings.BranchDays = 29 // those of the first day go: 24 hours, 8 of them of main
	if err := s.UpdateProject(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	main := exported(t, s, project)
	done, err := s.Retain(t.Context(), store.RetainOptions{BranchDays: 1}) // the project's own setting counts
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Retained{Runs: 16, Points: 16 * cases}, done); diff != "" {
		t.Error(diff)
	}
	clean(t, s)
	if left := ask(t, url, `select count(*) from pawl.report where lane > 0`); left != 10 {
		t.Errorf("%d runs of branches and forks are left", left)
	}
	// Lane main is what it was, byte for byte.
	mainSeries := map[int64]bool{}
	list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Lane: client.Main})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		mainSeries[one.ID] = true
	}
	ofMain := func(lines []line) []line {
		return slices.DeleteFunc(lines, func(l line) bool { return l.Kind != "point" || !mainSeries[l.Series] })
	}
	if diff := cmp.Diff(ofMain(main), ofMain(exported(t, s, project))); diff != "" {
		t.Error(diff)
	}
}

func TestRetainSamples(t *testing.T) {
	now := noon.AddDate(0, 0, -29)
	s, url := openedAt(t, func() time.Time { return now })
	project := projectNamed(t, s, "kernels")
	var receipts []client.Receipt
	for i := range 30 {
		receipts = append(receipts, ingest(t, s, project, withSamples(t, s, project, reportNo(i, 1)), client.Main))
	}
	if _, err := s.AddBlob(t.Context(), project, digest("never reported"), 7, client.Main); err != nil {
		t.Fatal(err)
	}
	// A change between runs 14 and 15, and one that people called false between 24 and 25.
	for _, e := range []struct {
		run   int
		state string
	}{{15, "acknowledged"}, {25, "false-alarm"}} {
		if _, err := owner(t, url).Exec(t.Context(), `insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, state)
			select project_id, id, 'step', $2, true, 'a', 'b', $3, $4, 1, 2, 0.001, $5 from pawl.series where project_id = $1`,
			project, receipts[e.run].Report, *reportNo(e.run-1, 1).Commit.At, *reportNo(e.run, 1).Commit.At, e.state); err != nil {
			t.Fatal(err)
		}
	}
	var b bucket
	if done, err := s.Retain(t.Context(), store.RetainOptions{SampleDays: 10, Drop: b.drop}); err != nil || done != (store.Retained{}) {
		t.Fatalf("while all is young: %+v, %v", done, err)
	}
	now = noon
	done, err := s.Retain(t.Context(), store.RetainOptions{SampleDays: 10, Drop: b.drop})
	if err != nil {
		t.Fatal(err)
	}
	// The change lies from run 14 to 15: with five neighbours on each side 9 to 20 stay.
	if diff := cmp.Diff(store.Retained{Samples: 18, Blobs: 19, Bytes: 18*100 + 7}, done); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(b.gone, digest("never reported")) || len(b.gone) != 19 {
		t.Errorf("%d blobs are gone", len(b.gone))
	}
	for i, r := range receipts {
		run, err := s.Run(t.Context(), project, r.Report)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if i >= 9 && i <= 20 {
			want = 2
		}
		if len(run.Blobs) != want {
			t.Errorf("run %d has %d blobs, want %d", i, len(run.Blobs), want)
		}
	}
	clean(t, s)
}

func TestDeleteProject(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 10, 2)
	ingest(t, s, project, withSamples(t, s, project, reportNo(20, 2)), client.Main)
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(5, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	if err := s.Audit(t.Context(), project, "mona", "project.delete", nil); err != nil {
		t.Fatal(err)
	}
	stays, _ := history(t, s, "stays", 3, 2)
	before := exported(t, s, stays)
	var b bucket
	gone, err := s.DeleteProject(t.Context(), project, b.drop)
	if err != nil {
		t.Fatal(err)
	}
	if gone.Blobs != 2 || gone.Bytes != 200 || len(b.gone) != 2 || gone.Rows["report"] != 13 || gone.Rows["series"] != 6 || gone.Rows["receipt"] != 13 ||
		gone.Rows["project"] != 1 || gone.Rows["tile"] == 0 || gone.Rows["point"] == 0 {
		t.Errorf("%+v", gone)
	}
	for table, n := range rowCounts(t, url) {
		if left := ask(t, url, `select count(*) from pawl.`+table+` t where to_jsonb(t) ->> 'project_id' = ($1::bigint)::text`, project); left > 0 && table != "audit" {
			t.Errorf("%d of %d rows in %s are of the deleted project", left, n, table)
		}
	}
	if lines, err := s.VerifyAudit(t.Context(), project); err != nil || lines != 1 {
		t.Errorf("the audit log has %d lines: %v", lines, err)
	}
	if diff := cmp.Diff(before, exported(t, s, stays)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.DeleteProject(t.Context(), project, b.drop); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted again: %v", err)
	}
	clean(t, s)
}

// A deletion that was interrupted hides the project, is told of, and is finished later.
func TestDeletionIsFinished(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 3, 2)
	ingest(t, s, project, withSamples(t, s, project, reportNo(20, 2)), client.Main)
	failing := func(context.Context, int64, string) error { return errors.New("the bucket is gone") }
	if _, err := s.DeleteProject(t.Context(), project, failing); err == nil {
		t.Fatal("deleted without its bucket")
	}
	if _, err := s.Project(t.Context(), "kernels"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half deleted, and still there: %v", err)
	}
	problems, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil || len(problems) != 1 || problems[0].Kind != "leftover" {
		t.Errorf("fsck: %v, %v", problems, err)
	}
	var b bucket
	if _, err := s.Retain(t.Context(), store.RetainOptions{Drop: b.drop}); err != nil || len(b.gone) != 2 {
		t.Errorf("%d blobs went: %v", len(b.gone), err)
	}
	if n := ask(t, url, `select count(*) from pawl.project`); n != 0 {
		t.Errorf("%d projects are left", n)
	}
}

// Whoever writes or compacts while a project is deleted leaves nothing behind.
func TestDeleteWhileReportsArrive(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 1, 2)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 100 {
				if _, err := s.Ingest(t.Context(), project, incoming(reportNo(10+4*i+w, 2), client.Main)); err != nil {
					return // it is gone
				}
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var compactor sync.WaitGroup
	compactor.Go(func() {
		for ctx.Err() == nil {
			if _, err := s.Compact(ctx, pointstore.CompactOptions{Project: project, Before: noon.AddDate(1, 0, 0), Batch: 5}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	if _, err := s.DeleteProject(t.Context(), project, nil); err != nil {
		t.Fatal(err)
	}
	writers.Wait()
	stop()
	compactor.Wait()
	for _, table := range []string{"point", "tile", "dirty", "receipt", "report", "series", "trend_state"} {
		if n := ask(t, url, `select count(*) from pawl.`+table); n > 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}

func TestRetain_KeepsBlobsOfRunningGates(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	project := projectNamed(t, s, "kernels")
	for _, name := range []string{"bundle", "record", "other"} {
		if _, err := s.AddBlob(t.Context(), project, digest(name), 7, client.Branch); err != nil {
			t.Fatal(err)
		}
	}
	fleet := fleetstore.New(s.DB())
	work := gate.Work{Gate: "01", Project: "kernels", Bundle: digest("bundle"), Head: "h", Suite: "pawl.yaml"}
	if err := fleet.AddGate(t.Context(), project, work, []string{"h100", "l4"}, ""); err != nil {
		t.Fatal(err)
	}
	published := gate.Publication{Project: "kernels", Gate: "01", Commit: "h", Suite: "pawl.yaml", Model: "l4", Result: job.Result{Attempt: 1, Record: digest("record")}}
	if err := fleet.Publish(t.Context(), project, published); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 3)
	var b bucket
	if _, err := s.Retain(t.Context(), store.RetainOptions{Drop: b.drop}); err != nil || !slices.Equal(b.gone, []string{digest("other")}) {
		t.Errorf("while the gate waits for an h100, %v are gone, %v", b.gone, err)
	}
	if err := fleet.Note(t.Context(), project, gate.Progress{Gate: "01", Model: "h100", State: gate.Canceled}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Retain(t.Context(), store.RetainOptions{Drop: b.drop}); err != nil || len(b.gone) != 3 {
		t.Errorf("after the gate has ended, %v are gone, %v", b.gone, err)
	}
	if n := ask(t, url, `select count(*) from pawl.blob`); n != 0 {
		t.Errorf("%d blobs are left", n)
	}
}
