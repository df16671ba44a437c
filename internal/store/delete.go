package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/failpoint"
)

// Gone is what a deletion removed.
type Gone struct {
	Rows  map[string]int64 `json:"rows"` // by table, without those that had none
	Blobs int              `json:"blobs"`
	Bytes int64            `json:"bytes"`
}

// deleteBatch is how many rows go in one transaction.
const deleteBatch = 10_000

// ofProject are the tables that hold what a project has, in an order in which nothing is
// left without what it needs: who looks meanwhile sees less, and nothing torn. The audit
// log outlives its project.
var ofProject = []string{
	"dirty", "event", "event_group", "trend_state", "point", "tile", "receipt", "report_blob", "report",
	"series", "testbed", "revision", "hook", "oidc_rule", "api_key", "member",
}

// DeleteProject removes a project and all it has, but for its audit log, and tells what
// went. It takes many small transactions; interrupted, it is finished by Retain.
func (s *Store) DeleteProject(ctx context.Context, project int64, drop DropBlob) (Gone, error) {
	gone := Gone{Rows: map[string]int64{}}
	tag, err := s.pool.Exec(ctx, `update pawl.project set deleting = coalesce(deleting, $2) where id = $1`, project, s.now())
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return gone, fmt.Errorf("deleting project %d: %w", project, err)
	}
	failpoint.At("delete.marked")
	for _, table := range ofProject {
		if err := s.empty(ctx, project, table, &gone); err != nil {
			return gone, fmt.Errorf("deleting project %d: emptying %s: %w", project, table, err)
		}
		failpoint.At("delete.emptied")
	}
	if err := s.emptyBlobs(ctx, project, drop, &gone); err != nil {
		return gone, fmt.Errorf("deleting project %d: removing its blobs: %w", project, err)
	}
	if err := s.deleteLast(ctx, project, drop, &gone); err != nil {
		return gone, fmt.Errorf("deleting project %d: %w", project, err)
	}
	return gone, nil
}

// finishDeletions goes on with those that were interrupted.
func (s *Store) finishDeletions(ctx context.Context, drop DropBlob) error {
	half, err := s.halfDeleted(ctx)
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

// halfDeleted are projects whose deletion has begun.
func (s *Store) halfDeleted(ctx context.Context) ([]int64, error) {
	rows, err := s.pool.Query(ctx, `select id from pawl.project where deleting is not null order by id`)
	if err != nil {
		return nil, fmt.Errorf("listing the projects that are being deleted: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// empty removes the rows of a table, some at a time.
func (s *Store) empty(ctx context.Context, project int64, table string, gone *Gone) error {
	for {
		tag, err := s.of(project).Exec(ctx, deleteSQL(table), project)
		if err != nil {
			return err
		}
		gone.add(table, tag.RowsAffected())
		if tag.RowsAffected() < deleteBatch {
			return nil
		}
	}
}

func (g *Gone) add(table string, rows int64) {
	if rows > 0 {
		g.Rows[table] += rows
	}
}

// deleteSQL deletes the first rows of a project in a table. A row of a partitioned table
// is told by its key: its place is not unique.
func deleteSQL(table string) string {
	some := ` limit ` + strconv.Itoa(deleteBatch)
	if table == "point" {
		return `delete from pawl.point p using (select series_id, at, report_id from pawl.point where project_id = $1 order by series_id, at, report_id` + some + `) f
			where p.project_id = $1 and p.series_id = f.series_id and p.at = f.at and p.report_id = f.report_id`
	}
	name := pgx.Identifier{"pawl", table}.Sanitize()
	return `delete from ` + name + ` where project_id = $1 and ctid = any(array(select ctid from ` + name + ` where project_id = $1` + some + `))`
}

// emptyBlobs removes bytes first: a row without bytes can be removed again, bytes without
// a row are only found by fsck. The project takes no report any more.
func (s *Store) emptyBlobs(ctx context.Context, project int64, drop DropBlob, gone *Gone) error {
	type blob struct {
		Digest []byte
		Size   int64
	}
	for {
		list, err := listOf(ctx, s, project, pgx.RowToStructByPos[blob], `select digest, size from pawl.blob where project_id = $1 order by digest limit 500`, project)
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
		tag, err := s.of(project).Exec(ctx, `delete from pawl.blob where project_id = $1 and digest = any($2)`, project, digests)
		if err != nil {
			return err
		}
		gone.add("blob", tag.RowsAffected())
	}
}

// deleteLast removes the project itself. Whoever is still writing is waited for: looks and
// compactions hold a lock of their own, which is taken first, reports hold the project's
// row. What they left goes too, and nobody finds anything to begin anew with.
func (s *Store) deleteLast(ctx context.Context, project int64, drop DropBlob, gone *Gone) error {
	var last Gone
	err := s.inProject(ctx, project, func(tx pgx.Tx) error {
		last = Gone{Rows: map[string]int64{}}
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('pawl.look', $1))`, project); err != nil {
			return err
		}
		if err := lockTiles(ctx, tx, project); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `select from pawl.project where id = $1 for update`, project); err != nil {
			return err
		}
		for _, table := range ofProject {
			for {
				tag, err := tx.Exec(ctx, deleteSQL(table), project)
				if err != nil {
					return err
				}
				last.add(table, tag.RowsAffected())
				if tag.RowsAffected() < deleteBatch {
					break
				}
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
