package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// ExcludedSeries is a series that was taken out of the history.
type ExcludedSeries struct {
	ID             int64      `json:"id"`
	Suite          string     `json:"suite"`
	Name           string     `json:"name"`
	Implementation string     `json:"implementation"`
	Reason         string     `json:"reason"`
	Actor          string     `json:"actor"`
	Excluded       time.Time  `json:"excluded"`
	Deleted        *time.Time `json:"deleted,omitempty"` // it cannot be restored
}

// ExcludeSeries takes a series out of the history: it is in no list and no export, and has no events. Its
// points are kept, and reports keep adding to them, so it can be restored.
func (s *Store) ExcludeSeries(ctx context.Context, project, id int64, actor, reason string) error {
	if reason == "" || len(reason) > maxReason {
		return &pg.InvalidError{What: fmt.Sprintf("a reason of 1 to %d bytes is needed", maxReason)}
	}
	now := s.db.Now()
	return s.changeSeries(ctx, project, id, actor, "series.exclude", reason, &now)
}

// RestoreSeries puts an excluded series back.
func (s *Store) RestoreSeries(ctx context.Context, project, id int64, actor string) error {
	return s.changeSeries(ctx, project, id, actor, "series.restore", "", nil)
}

// changeSeries excludes a series at a time, or restores it if there is none.
func (s *Store) changeSeries(ctx context.Context, project, id int64, actor, action, reason string, at *time.Time) error {
	err := s.changeScanned(ctx, project, actor, action, func(in *Store) (map[string]string, error) {
		detail := map[string]string{"series": strconv.FormatInt(id, 10)}
		if reason != "" {
			detail["reason"] = reason
		}
		return detail, in.db.InProject(ctx, project, func(tx pgx.Tx) error {
			by := ""
			if at != nil {
				by = sanitizeText(actor)
			}
			tag, err := tx.Exec(ctx, `update pawl.series set excluded = $3, excluded_actor = $4, excluded_reason = $5
				where project_id = $1 and id = $2 and (excluded is null) = ($3::timestamptz is not null) and deleted is null`, project, id, at, by, sanitizeText(reason))
			if err == nil && tag.RowsAffected() == 0 {
				err = notExcluded(ctx, tx, project, id)
			}
			if err != nil {
				return err
			}
			return in.rescanSeries(ctx, tx, project, id)
		})
	})
	return pg.Wrap(pg.Input(err), "cannot change series %d of project %d", id, project)
}

// notExcluded returns why a series cannot be changed: it was deleted, or it is not there.
func notExcluded(ctx context.Context, tx pgx.Tx, project, id int64) error {
	var deleted bool
	err := tx.QueryRow(ctx, `select deleted is not null from pawl.series where project_id = $1 and id = $2`, project, id).Scan(&deleted)
	if err == nil && deleted {
		return ErrDeleted
	}
	if err == nil {
		return ErrNotFound
	}
	return pg.Found(err)
}

// DeleteSeries deletes the points and events of an excluded series for good. Its row stays in the list of excluded ones, so that
// its name cannot come back; points that reports still send for it are deleted by [Store.Retain].
func (s *Store) DeleteSeries(ctx context.Context, project, id int64, actor string) error {
	err := s.ChangeAudited(ctx, project, actor, "series.delete", func(in *Store) (map[string]string, error) {
		detail := map[string]string{"series": strconv.FormatInt(id, 10)}
		return detail, in.db.InProject(ctx, project, func(tx pgx.Tx) error {
			if err := pointstore.LockTiles(ctx, tx, project); err != nil {
				return err
			}
			var name string
			err := tx.QueryRow(ctx, `update pawl.series set deleted = $3 where project_id = $1 and id = $2 and excluded is not null and deleted is null
				returning suite || ' ' || name || ' ' || implementation`, project, id, s.db.Now()).Scan(&name)
			if err != nil {
				return pg.Found(err)
			}
			detail["name"] = name
			b := &pgx.Batch{}
			queueWords(b, project, []int64{id}, []string{""}, false)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			return dropSeries(ctx, tx, project, []int64{id})
		})
	})
	return pg.Wrap(err, "cannot delete series %d of project %d: it must be excluded first", id, project)
}

// dropSeries deletes what there is of series beside their rows. The caller holds the lock of the tiles.
func dropSeries(ctx context.Context, tx pgx.Tx, project int64, ids []int64) error {
	b := &pgx.Batch{}
	for _, table := range []string{"point", "tile", "trend_state", "event"} {
		b.Queue(`delete from `+pgx.Identifier{"pawl", table}.Sanitize()+` where project_id = $1 and series_id = any($2)`, project, ids)
	}
	return tx.SendBatch(ctx, b).Close()
}

// dropDeletedSeries deletes what reports have sent for deleted series since.
func (s *Store) dropDeletedSeries(ctx context.Context, project int64) error {
	ids, err := s.deletedSeries(ctx, project)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		if err := pointstore.LockTiles(ctx, tx, project); err != nil {
			return err
		}
		return dropSeries(ctx, tx, project, ids)
	})
}

func (s *Store) deletedSeries(ctx context.Context, project int64) ([]int64, error) {
	return pg.List(ctx, s.db, project, pgx.RowTo[int64], `select id from pawl.series where project_id = $1 and deleted is not null order by id`, project)
}

// rescanSeries makes the next scan read a series in full. Scans take reports, so it names one of the series.
func (s *Store) rescanSeries(ctx context.Context, tx pgx.Tx, project, id int64) error {
	var report int64
	err := tx.QueryRow(ctx, `select report_id from (
		  (select report_id from pawl.point where project_id = $1 and series_id = $2 order by at desc, report_id desc limit 1)
		  union all
		  (select first_report from pawl.tile where project_id = $1 and series_id = $2 order by first_at desc, first_report desc limit 1)) newest limit 1`,
		project, id).Scan(&report)
	if pg.None(err) {
		return nil // nothing to scan
	}
	if err != nil {
		return err
	}
	return s.rescan(ctx, tx, project, report, []int64{id})
}

// ExcludedSeries lists the excluded series of a project, most recently excluded first.
func (s *Store) ExcludedSeries(ctx context.Context, project int64) ([]ExcludedSeries, error) {
	list, err := pg.List(ctx, s.db, project, func(row pgx.CollectableRow) (x ExcludedSeries, err error) {
		err = row.Scan(&x.ID, &x.Suite, &x.Name, &x.Implementation, &x.Reason, &x.Actor, &x.Excluded, &x.Deleted)
		x.Excluded = x.Excluded.UTC()
		return x, err
	}, `select id, suite, name, implementation, excluded_reason, excluded_actor, excluded, deleted from pawl.series
		where project_id = $1 and excluded is not null order by excluded desc, id desc limit 1000`, project)
	return list, pg.Wrap(err, "cannot list the excluded series of project %d", project)
}
