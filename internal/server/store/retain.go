package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// DropBlob removes the bytes of a blob, identified by its digest in hex. A missing blob is not an
// error.
type DropBlob func(ctx context.Context, project int64, digest string) error

// RetainOptions holds the defaults for what is deleted. A project's settings take precedence.
type RetainOptions struct {
	Project    int64 // 0 means all
	SampleDays int   // delete raw samples after this many days, except next to changes; 0 means never
	BranchDays int   // delete runs of branches and forks after this many days; 0 means never
	Drop       DropBlob
}

// Retained counts what was deleted.
type Retained struct {
	Samples int   `json:"samples"` // references to raw samples
	Runs    int   `json:"runs"`    // of branches and forks
	Points  int   `json:"points"`  // of those
	Blobs   int   `json:"blobs"`   // that nothing refers to any more
	Bytes   int64 `json:"bytes"`   // of those
}

const (
	retainBatch = 100
	// sampleNeighbors is the number of runs on each side of a change that keep their samples, so that
	// before and after can be compared.
	sampleNeighbors = 5
	// BlobGrace is how long a blob, or bytes without a row, wait for their report.
	BlobGrace = 48 * time.Hour
)

// Retain deletes what the settings allow. Points of the default branch are kept forever.
func (s *Store) Retain(ctx context.Context, o RetainOptions) (Retained, error) {
	var all Retained
	projects, err := s.db.Projects(ctx, o.Project)
	if err != nil {
		return all, err
	}
	if o.Project == 0 {
		if err := s.finishDeletions(ctx, o.Drop); err != nil {
			return all, err
		}
	}
	for _, id := range projects {
		one, err := s.retain(ctx, id, o)
		all.Samples, all.Runs, all.Points, all.Blobs, all.Bytes = all.Samples+one.Samples, all.Runs+one.Runs, all.Points+one.Points, all.Blobs+one.Blobs, all.Bytes+one.Bytes
		if err != nil {
			return all, fmt.Errorf("cannot delete old data of project %d: %w", id, err)
		}
	}
	return all, nil
}

func (s *Store) retain(ctx context.Context, project int64, o RetainOptions) (done Retained, err error) {
	p, err := s.ProjectByID(ctx, project)
	if err != nil {
		return done, err
	}
	days := func(own, server int) (time.Time, bool) {
		if own == 0 {
			own = server
		}
		return s.db.Now().AddDate(0, 0, -own), own > 0
	}
	if before, some := days(p.Settings.BranchDays, o.BranchDays); some {
		if err := s.dropRuns(ctx, project, before, &done); err != nil {
			return done, err
		}
		if err := s.dropExcluded(ctx, project, before); err != nil {
			return done, err
		}
	}
	if err := s.dropDeletedSeries(ctx, project); err != nil {
		return done, err
	}
	if before, some := days(p.Settings.SampleDays, o.SampleDays); some {
		if done.Samples, err = s.dropSamples(ctx, project, before); err != nil {
			return done, err
		}
	}
	err = s.dropBlobs(ctx, project, s.db.Now().Add(-BlobGrace), o.Drop, &done) // before done is read
	return done, err
}

// dropRuns removes runs of branches and forks dated before a time, with everything that belongs to
// them, a few per transaction.
func (s *Store) dropRuns(ctx context.Context, project int64, before time.Time, done *Retained) error {
	for {
		var runs, dropped int
		err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
			if err := pointstore.LockTiles(ctx, tx, project); err != nil {
				return err
			}
			old, err := oldRuns(ctx, tx, project, before)
			if err != nil || len(old.reports) == 0 {
				return err
			}
			runs = len(old.reports)
			if dropped, err = pointstore.Drop(ctx, tx, project, old.series, old.reports, old.from, old.to); err != nil {
				return err
			}
			b := &pgx.Batch{}
			b.Queue(`delete from pawl.report_blob where project_id = $1 and report_id = any($2)`, project, old.reports)
			b.Queue(`delete from pawl.dirty where project_id = $1 and report_id = any($2)`, project, old.reports)
			b.Queue(`delete from pawl.receipt where project_id = $1 and key = any($2)`, project, old.keys) // no index has their reports
			b.Queue(`delete from pawl.report where project_id = $1 and id = any($2)`, project, old.reports)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			failpoint.At("retain.before-commit")
			return nil
		})
		if err != nil {
			return err
		}
		done.Runs, done.Points = done.Runs+runs, done.Points+dropped
		if runs < retainBatch {
			return nil
		}
	}
}

// dropExcluded forgets excluded runs of branches and forks dated before a time.
func (s *Store) dropExcluded(ctx context.Context, project int64, before time.Time) error {
	_, err := s.db.Of(project).Exec(ctx, `with gone as (delete from pawl.excluded where project_id = $1 and at < $2 and lane > 0 returning report_id),
		blobs as (delete from pawl.report_blob where project_id = $1 and report_id in (select report_id from gone)),
		dirty as (delete from pawl.dirty where project_id = $1 and report_id in (select report_id from gone))
		delete from pawl.receipt where project_id = $1 and report_id in (select report_id from gone)`, project, before)
	return err
}

// someRuns holds reports, the keys of their receipts, their series, and the time range of their points.
type someRuns struct {
	reports, series []int64
	keys            [][]byte
	from, to        time.Time
}

func oldRuns(ctx context.Context, tx pgx.Tx, project int64, before time.Time) (old someRuns, err error) {
	rows, err := tx.Query(ctx, `select id, run, at, series from pawl.report where project_id = $1 and at < $2 and lane > 0 order by at, id limit $3 for update`, project, before, retainBatch)
	if err != nil {
		return old, err
	}
	var id int64
	var run string
	var at time.Time
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &run, &at, &packed}, func() error {
		ids, err := pointcodec.UnpackIDs(packed)
		if err != nil {
			return fmt.Errorf("report %d: %w", id, err)
		}
		key, err := digestOf(client.Key(&client.Report{Run: run}))
		if err != nil {
			return err
		}
		if len(old.reports) == 0 {
			old.from = at
		}
		old.to = at
		old.reports, old.keys, old.series = append(old.reports, id), append(old.keys, key), append(old.series, ids...)
		return nil
	})
	slices.Sort(old.series)
	old.series = slices.Compact(old.series)
	return old, err
}

// dropBlobs removes blobs that no report and no running gate refers to and that arrived before a time. Rows go first: a
// row without bytes would be a broken promise, while fsck finds bytes without a row.
func (s *Store) dropBlobs(ctx context.Context, project int64, before time.Time, drop DropBlob, done *Retained) error {
	if drop == nil {
		return nil
	}
	for {
		list, found, err := s.forgetBlobs(ctx, project, before)
		if err != nil {
			return err
		}
		failpoint.At("collect.rows-gone")
		for _, b := range list {
			if _, err := s.DropBytes(ctx, project, b.Digest, drop); err != nil {
				return err
			}
			done.Blobs, done.Bytes = done.Blobs+1, done.Bytes+b.Size
		}
		if found < retainBatch {
			return nil
		}
	}
}

type orphan struct {
	Digest string
	Size   int64
}

// forgetBlobs removes the rows of some blobs that no report and no running gate refers to. found is the number it
// examined. It locks the rows, then checks again with a new statement: only that statement sees a
// report that held a row until it committed.
func (s *Store) forgetBlobs(ctx context.Context, project int64, before time.Time) (gone []orphan, found int, err error) {
	const alone = ` and not exists (select from pawl.report_blob r where r.project_id = $1 and r.digest = b.digest)
		and not exists (select from pawl.gate g left join pawl.publication p on p.project_id = $1 and p.gate = g.id
			where g.project_id = $1 and g.state in ('waiting', 'measuring') and encode(b.digest, 'hex') in (g.bundle, p.record))`
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		held, err := pg.Collect(ctx, tx, pgx.RowTo[[]byte], `select b.digest from pawl.blob b where b.project_id = $1 and b.created < $2`+alone+` order by b.digest limit $3 for update`, project, before, retainBatch)
		if found = len(held); err != nil || found == 0 {
			return err
		}
		gone, err = pg.Collect(ctx, tx, pgx.RowToStructByPos[orphan], `delete from pawl.blob b where b.project_id = $1 and b.digest = any($2)`+alone+` returning encode(b.digest, 'hex'), b.size`, project, held)
		return err
	})
	return gone, found, err
}

// DropBytes removes the bytes of a blob that has no row, and reports whether it did. AddBlob waits
// meanwhile, and its caller checks the bytes afterwards: see [Store.AddBlob].
func (s *Store) DropBytes(ctx context.Context, project int64, digest string, drop DropBlob) (dropped bool, err error) {
	sum, err := digestOf(digest)
	if err != nil {
		return false, err
	}
	err = s.db.InProjectWith(ctx, project, lockBlob(project, digest), func(tx pgx.Tx) error {
		var noted bool
		if err := tx.QueryRow(ctx, `select exists (select from pawl.blob where project_id = $1 and digest = $2)`, project, sum).Scan(&noted); err != nil || noted {
			return err
		}
		dropped = true
		return drop(ctx, project, digest)
	})
	return dropped, pg.Wrap(err, "cannot remove the bytes of blob %s", digest)
}
