package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// A blob that waited too long for its report is let go, but not while its report is being
// written: what is acknowledged has its files.
func TestRetainKeepsBlobsOfReportsThatCommitMeanwhile(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	p := projectNamed(t, s, "kernels")
	r := withSamples(t, s, p, reportNo(1, 1))
	now = noon.AddDate(0, 0, 3)
	// As a report does it: hold the rows, refer to them, commit.
	tx, err := owner(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`select from pawl.blob where project_id = $1 order by digest for key share`,
		`insert into pawl.report_blob (project_id, report_id, ordinal, digest, kind) select project_id, 1, row_number() over (order by digest), digest, 'samples' from pawl.blob where project_id = $1`,
	} {
		if _, err := tx.Exec(t.Context(), sql, p); err != nil {
			t.Fatal(err)
		}
	}
	var b bucket
	ended := make(chan error, 1)
	go func() {
		_, err := s.Retain(context.WithoutCancel(t.Context()), store.RetainOptions{Project: p, Drop: b.drop})
		ended <- err
	}()
	await.True(t, "retention to wait for the report", func() bool {
		return ask(t, url, `select count(*) from pg_locks where not granted and (database is null or database = (select oid from pg_database where datname = current_database()))`) > 0
	})
	if err := errors.Join(tx.Commit(t.Context()), <-ended); err != nil {
		t.Fatal(err)
	}
	if left := ask(t, url, `select count(*) from pawl.blob`); left != int64(len(r.Blobs)) || len(b.gone) > 0 {
		t.Errorf("%d of %d blobs are left, the bytes of %d went", left, len(r.Blobs), len(b.gone))
	}
}

// Bytes go only while nobody can note them: an upload either finds its bytes gone after
// it noted them, and is sent again, or they stay.
func TestBytesAreNotDroppedUnderAnUpload(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	d := digest("bytes")
	noted := make(chan error, 1)
	dropped, err := s.DropBytes(t.Context(), p, d, func(context.Context, int64, string) error {
		go func() {
			_, err := s.AddBlob(context.WithoutCancel(t.Context()), p, d, 5, client.Main)
			noted <- err
		}()
		await.True(t, "the upload to wait for the drop", func() bool {
			return ask(t, url, `select count(*) from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`) > 0
		})
		return nil
	})
	if err != nil || !dropped {
		t.Fatal(dropped, err)
	}
	if err := <-noted; err != nil {
		t.Fatal(err)
	}
	var b bucket
	if dropped, err := s.DropBytes(t.Context(), p, d, b.drop); err != nil || dropped || len(b.gone) > 0 {
		t.Errorf("bytes that are noted were dropped: %v %v", b.gone, err)
	}
}

// A receipt stays what it is when the files of its report were let go since.
func TestReceiptOutlivesItsBlobs(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	r := withSamples(t, s, p, reportNo(1, 2))
	first := ingest(t, s, p, r, client.Main)
	must(t, owner(t, url), `delete from pawl.report_blob`)
	must(t, owner(t, url), `delete from pawl.blob`)
	again, err := s.Ingest(t.Context(), p, incoming(r, client.Main))
	if err != nil || again.Report != first.Report || !again.Again {
		t.Errorf("%+v after %+v: %v", again, first, err)
	}
	fresh := reportNo(2, 2)
	fresh.Blobs = r.Blobs
	if _, err := s.Ingest(t.Context(), p, incoming(fresh, client.Main)); err == nil {
		t.Error("a report without its blobs was kept")
	}
}

// What is refused changes nothing, not even the path of a kernel.
func TestRefusedReportsDescribeNothing(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	ingest(t, s, p, reportNo(1, 2), client.Main)
	other := reportNo(1, 2)
	for n := range other.Points {
		other.Points[n].Path, other.Points[n].Owners = "elsewhere.cu", nil
	}
	in := incoming(other, client.Main)
	in.Body = sha256.Sum256([]byte("other contents"))
	if _, err := s.Ingest(t.Context(), p, in); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another report of the run: %v", err)
	}
	lacking := reportNo(2, 2)
	lacking.Points[0].Path = "elsewhere.cu"
	lacking.Blobs = []client.Blob{{Digest: digest("nobody sent it"), Size: 1, Kind: client.BlobSamples}}
	if _, err := s.Ingest(t.Context(), p, incoming(lacking, client.Main)); err == nil {
		t.Error("a report without its blobs was kept")
	}
	if moved := ask(t, url, `select count(*) from pawl.series where path <> 'kernels/matmul.cu' or owners <> '{@octo/kernels}'`); moved != 0 {
		t.Errorf("%d series are described by a report that was refused", moved)
	}
}

// A month that was emptied and dropped is made again for what moves into it.
func TestResolveIntoAMonthThatWasDropped(t *testing.T) {
	s, _ := opened(t)
	p := projectNamed(t, s, "kernels")
	old := reportNo(1, 1)
	at := placeOf(1)
	old.Commit.At = &at
	ingest(t, s, p, old, client.Main) // this process knows the month now
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Partitions(t.Context()); err != nil || len(done.Dropped) == 0 {
		t.Fatal(done, err)
	}
	ingest(t, s, p, unplaced(2), client.Main)
	ingest(t, s, p, telling(100, 2), client.Main)
	if n, err := s.Resolve(t.Context(), p); err != nil || n != 1 {
		t.Errorf("%d reports were moved: %v", n, err)
	}
}
