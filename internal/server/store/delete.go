package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Deleted counts what a deletion removed.
type Deleted struct {
	Rows  map[string]int64 `json:"rows"` // by table; tables without deleted rows are omitted
	Blobs int              `json:"blobs"`
	Bytes int64            `json:"bytes"`
}

// deleteBatch is the number of rows deleted per transaction.
const deleteBatch = 10_000

// projectTables lists the tables with rows of a project, in an order that keeps references valid: a
// concurrent reader sees fewer rows, but no broken ones. The audit log is kept after its project
// is deleted.
var projectTables = []string{
	"dirty", "event", "event_group", "trend_state", "point", "tile", "receipt", "report_blob", "report",
	"series_word", "series", "testbed", "revision", "hook", "oidc_rule", "api_key", "member", "publication", "gate", "reservation", "budget", "excluded", "link",
}

// DeleteProject removes a project and all its data except the audit log, and returns counts. It
// uses many small transactions. If it is interrupted, Retain finishes it.
func (s *Store) DeleteProject(ctx context.Context, project int64, drop DropBlob) (Deleted, error) {
	gone := Deleted{Rows: map[string]int64{}}
	tag, err := s.db.Pool.Exec(ctx, `update pawl.project set deleting = coalesce(deleting, $2) where id = $1`, project, s.db.Now())
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return gone, fmt.Errorf("cannot delete project %d: %w", project, err)
	}
	failpoint.At("delete.marked")
	for _, table := range projectTables {
		if err := empty(ctx, s.db.Of(project), project, table, &gone); err != nil {
			return gone, fmt.Errorf("cannot delete project %d: cannot empty %s: %w", project, table, err)
		}
		failpoint.At("delete.emptied")
	}
	if err := s.emptyBlobs(ctx, project, drop, &gone); err != nil {
		return gone, fmt.Errorf("cannot delete project %d: cannot remove its blobs: %w", project, err)
	}
	if err := s.deleteLast(ctx, project, drop, &gone); err != nil {
		return gone, fmt.Errorf("cannot delete project %d: %w", project, err)
	}
	return gone, nil
}

// finishDeletions resumes interrupted deletions.
func (s *Store) finishDeletions(ctx context.Context, drop DropBlob) error {
	half, err := s.HalfDeleted(ctx)
	if err != nil {
		return err
	}
	for _, id := range half {
		if _, err := s.DeleteProject(ctx, id, drop); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// HalfDeleted returns projects whose deletion was started.
func (s *Store) HalfDeleted(ctx context.Context) ([]int64, error) {
	ids, err := pg.Collect(ctx, s.db.Pool, pgx.RowTo[int64], `select id from pawl.project where deleting is not null order by id`)
	return ids, pg.Wrap(err, "cannot list the projects that are being deleted")
}

// empty deletes the project's rows of a table in batches.
func empty(ctx context.Context, q db.DBTX, project int64, table string, gone *Deleted) error {
	for {
		tag, err := q.Exec(ctx, deleteSQL(table), project)
		if err != nil {
			return err
		}
		gone.add(table, tag.RowsAffected())
		if tag.RowsAffected() < deleteBatch {
			return nil
		}
	}
}

func (g *Deleted) add(table string, rows int64) {
	if rows > 0 {
		g.Rows[table] += rows
	}
}

// deleteSQL deletes a batch of a project's rows from a table. Rows of a partitioned table are
// identified by key, because a ctid is unique only within a partition.
func deleteSQL(table string) string {
	some := ` limit ` + strconv.Itoa(deleteBatch)
	if table == "point" {
		return `delete from pawl.point p using (select series_id, at, report_id from pawl.point where project_id = $1 order by series_id, at, report_id` + some + `) f
			where p.project_id = $1 and p.series_id = f.series_id and p.at = f.at and p.report_id = f.report_id`
	}
	name := pgx.Identifier{"pawl", table}.Sanitize()
	return `delete from ` + name + ` where project_id = $1 and ctid = any(array(select ctid from ` + name + ` where project_id = $1` + some + `))`
}

// emptyBlobs removes bytes before rows. A row without bytes can be removed again later; only
// fsck finds bytes without a row. The project no longer accepts reports at this point.
func (s *Store) emptyBlobs(ctx context.Context, project int64, drop DropBlob, gone *Deleted) error {
	type blob struct {
		Digest []byte
		Size   int64
	}
	for {
		list, err := pg.List(ctx, s.db, project, pgx.RowToStructByPos[blob], `select digest, size from pawl.blob where project_id = $1 order by digest limit 500`, project)
		if err != nil || len(list) == 0 {
			return err
		}
		digests := make([][]byte, len(list))
		for i, b := range list {
			if drop != nil {
				if err := drop(ctx, project, hex.EncodeToString(b.Digest)); err != nil {
					return err
				}
			}
			digests[i] = b.Digest
			gone.Blobs, gone.Bytes = gone.Blobs+1, gone.Bytes+b.Size
		}
		failpoint.At("delete.blobs")
		tag, err := s.db.Of(project).Exec(ctx, `delete from pawl.blob where project_id = $1 and digest = any($2)`, project, digests)
		if err != nil {
			return err
		}
		gone.add("blob", tag.RowsAffected())
	}
}

// deleteLast removes the project itself, after waiting for current writers. Scans and compactions
// hold their own locks, which are taken first; reports hold a lock on the project's row. It also
// removes what those writers left. Afterwards no writer can start again.
func (s *Store) deleteLast(ctx context.Context, project int64, drop DropBlob, gone *Deleted) error {
	var last Deleted
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		last = Deleted{Rows: map[string]int64{}}
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('pawl.look', $1))`, project); err != nil {
			return err
		}
		if err := pointstore.LockTiles(ctx, tx, project); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `select from pawl.project where id = $1 for update`, project); err != nil {
			return err
		}
		for _, table := range projectTables {
			if err := empty(ctx, tx, project, table, &last); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, `delete from pawl.blob where project_id = $1 returning encode(digest, 'hex'), size`, project)
		if err != nil {
			return err
		}
		var digests []string
		var digest string
		var size int64
		if _, err := pgx.ForEachRow(rows, []any{&digest, &size}, func() error {
			digests, last.Bytes = append(digests, digest), last.Bytes+size
			return nil
		}); err != nil {
			return err
		}
		last.Blobs = len(digests)
		last.add("blob", int64(len(digests)))
		for _, d := range digests {
			if drop == nil {
				break
			}
			if err := drop(ctx, project, d); err != nil {
				return err
			}
		}
		failpoint.At("delete.before-commit")
		_, err = tx.Exec(ctx, `delete from pawl.project where id = $1`, project)
		return err
	})
	if err != nil {
		return err
	}
	for table, n := range last.Rows {
		gone.add(table, n)
	}
	gone.Blobs, gone.Bytes = gone.Blobs+last.Blobs, gone.Bytes+last.Bytes
	gone.add("project", 1)
	return nil
}
