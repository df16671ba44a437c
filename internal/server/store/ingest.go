package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Incoming is a report as received and checked by client.Decode, with what the server determined
// about its sender.
type Incoming struct {
	Key    string            // the idempotency key: client.Key of the report
	Body   [sha256.Size]byte // digest of the received bytes
	Report *client.Report
	Lane   client.Lane
	Sender map[string]string // identity of the sender, as far as it was proved
}

// ErrConflict means that the key was used with a different body.
var ErrConflict = errors.New("the run was already reported with different contents")

// MissingBlobsError lists blobs that a report refers to and that were not uploaded.
type MissingBlobsError struct{ Digests []string }

func (e *MissingBlobsError) Error() string {
	return fmt.Sprintf("%d blobs of the report were not sent, the first is %s: send them before the report", len(e.Digests), e.Digests[0])
}

// QuotaError names the quota of the project that is reached.
type QuotaError struct {
	What  string // "points a day", "bytes of blobs", "series"
	Limit int64
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("the project's quota of %d %s is used up: an admin of the server can raise it", e.Limit, e.What)
}

// Ingest stores a report completely, durably and once. The same key and body always get the same
// receipt. The same key with another body gets [ErrConflict].
//
// A report of known series takes one transaction of one round trip. It waits only for a report
// with the same key, or for one that is committing the same new commit at that moment.
func (s *Store) Ingest(ctx context.Context, project int64, in Incoming) (client.Receipt, error) {
	r, err := s.newRow(project, in)
	if err != nil {
		return client.Receipt{}, err
	}
	if err := s.writers.Acquire(ctx, 1); err != nil {
		return client.Receipt{}, fmt.Errorf("cannot get a connection to store run %s: %w", in.Report.Run, err)
	}
	defer s.writers.Release(1)
	// A retry is needed only if a partition was dropped, or if the database aborted this
	// transaction to resolve a deadlock between reports with overlapping commits.
	for pass := 0; ; pass++ {
		receipt, err := s.keep(ctx, r)
		switch {
		case err == nil:
			return receipt, nil
		case pass < 4 && pointstore.LostPartition(err):
			s.ForgetMonth(r.at)
		case pass < 4 && (pg.Violates(err, "40P01") || pg.Violates(err, "40001")):
		case pg.Violates(err, "23503"): // the project was deleted while the report was written
			return client.Receipt{}, fmt.Errorf("cannot store run %s: the project was deleted: %w", in.Report.Run, ErrNotFound)
		default:
			return client.Receipt{}, fmt.Errorf("cannot store run %s: %w", in.Report.Run, pg.Input(err))
		}
	}
}

func (s *Store) keep(ctx context.Context, r *row) (client.Receipt, error) {
	if err := s.prepare(ctx, r); err != nil {
		if receipt, ok, again := s.kept(ctx, r); again != nil {
			return client.Receipt{}, again
		} else if ok {
			return receipt, nil // quotas and the like do not revoke a receipt
		}
		return client.Receipt{}, err
	}
	failpoint.At("ingest.series-known")
	var id int64
	var lacks []string
	err := s.db.ReadBatch(ctx, r.project, func(b *pgx.Batch) {
		// Plan once, using the indexes. Planning each report costs as much as writing its points. A
		// plan made when a table was small would scan the whole table forever.
		b.Queue(`select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)`)
		r.write(b, &id, &lacks)
	})
	if err != nil {
		return client.Receipt{}, err
	}
	failpoint.At("ingest.after-commit")
	if len(lacks) > 0 { // nothing was written; the blobs may have been removed since the report was stored
		receipt, ok, err := s.kept(ctx, r)
		if err == nil && !ok {
			err = &MissingBlobsError{lacks}
		}
		return receipt, err
	}
	if id == 0 {
		receipt, ok, err := s.kept(ctx, r)
		if err == nil && !ok {
			err = fmt.Errorf("the project is being deleted: %w", ErrNotFound)
		}
		return receipt, err
	}
	s.scan(ctx, r.project)
	s.cacheCommits(r)
	s.quotas.add(r.project, r.in.Lane, int64(len(r.points.series)), 0)
	return client.Receipt{Report: id, Run: r.report.Run, Received: r.received, Points: len(r.points.series), Lane: r.in.Lane}, nil
}

// kept returns the receipt of a report that was sent before.
func (s *Store) kept(ctx context.Context, r *row) (receipt client.Receipt, ok bool, err error) {
	var body []byte
	var lane int16
	err = s.db.Of(r.project).QueryRow(ctx, `
		select c.body, c.report_id, coalesce(r.run, x.run), coalesce(r.received, x.received), coalesce(r.points, x.points), coalesce(r.lane, x.lane)
		from pawl.receipt c left join pawl.report r on r.project_id = c.project_id and r.id = c.report_id
		left join pawl.excluded x on x.project_id = c.project_id and x.report_id = c.report_id
		where c.project_id = $1 and c.key = $2 and coalesce(r.id, x.report_id) is not null`, r.project, r.key).
		Scan(&body, &receipt.Report, &receipt.Run, &receipt.Received, &receipt.Points, &lane)
	if pg.None(err) {
		return client.Receipt{}, false, nil
	}
	if err != nil {
		return client.Receipt{}, false, fmt.Errorf("cannot read a receipt: %w", err)
	}
	if !bytes.Equal(body, r.in.Body[:]) {
		return client.Receipt{}, false, ErrConflict
	}
	receipt.Lane, receipt.Again, receipt.Received = laneName(lane), true, receipt.Received.UTC()
	return receipt, true, nil
}

// prepare finds or creates what the transaction refers to: the month's partition, the testbeds
// and the series. It runs before the transaction because these rows are shared: a transaction
// that locked them would block all others.
func (s *Store) prepare(ctx context.Context, r *row) error {
	if err := s.quotas.check(ctx, s, r.project, r.in.Lane, int64(len(r.report.Points)), 0); err != nil {
		return err
	}
	if err := s.checkSize(ctx); err != nil {
		return err
	}
	failpoint.At("ingest.checked")
	if err := s.place(ctx, r); err != nil {
		return err
	}
	if err := s.nameTestbeds(ctx, r); err != nil {
		return err
	}
	if err := s.nameSeries(ctx, r); err != nil {
		return err
	}
	r.commits = s.unknownCommits(r)
	return r.arrange()
}

// place sets the date of the points: the time of their commit if it is known, else the time of
// measurement.
func (s *Store) place(ctx context.Context, r *row) error {
	r.at, r.placed = r.report.Measured, false
	if at := r.report.Commit.At; at != nil {
		r.at, r.placed = *at, true
	} else {
		// A commit time from a less trusted lane must not date points of a more trusted one.
		err := s.db.Of(r.project).QueryRow(ctx, `select at from pawl.revision where project_id = $1 and sha = $2 and at is not null and lane <= $3`,
			r.project, r.report.Commit.SHA, r.lane).Scan(&r.at)
		if err != nil && !pg.None(err) {
			return fmt.Errorf("cannot look up the time of commit %.12s: %w", r.report.Commit.SHA, err)
		}
		r.placed = err == nil
	}
	r.at = r.at.UTC().Truncate(time.Microsecond)
	if oldest := s.Oldest(); r.at.Before(oldest) {
		return &pg.InvalidError{What: fmt.Sprintf("points of commits before %s are not stored, and commit %.12s is from %s: a clock was wrong, or the history is older than a server stores",
			oldest.Format(time.DateOnly), r.report.Commit.SHA, r.at.Format(time.DateOnly))}
	}
	return s.MakeMonth(ctx, r.at)
}
