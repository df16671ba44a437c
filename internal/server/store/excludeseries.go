package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// ExcludedSeries is a series that was taken out of the history.
type ExcludedSeries struct {
	ID             int64     `json:"id"`
	Suite          string    `json:"suite"`
	Name           string    `json:"name"`
	Implementation string    `json:"implementation"`
	Reason         string    `json:"reason"`
	Actor          string    `json:"actor"`
	Excluded       time.Time `json:"excluded"`
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
	err := s.ChangeAudited(ctx, project, actor, action, func(in *Store) (map[string]string, error) {
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
				where project_id = $1 and id = $2 and (excluded is null) = ($3::timestamptz is not null)`, project, id, at, by, sanitizeText(reason))
			if err == nil && tag.RowsAffected() == 0 {
				err = ErrNotFound
			}
			if err != nil {
				return err
			}
			return in.rescanSeries(ctx, tx, project, id)
		})
	})
	return pg.Wrap(pg.Input(err), "cannot change series %d of project %d", id, project)
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
		err = row.Scan(&x.ID, &x.Suite, &x.Name, &x.Implementation, &x.Reason, &x.Actor, &x.Excluded)
		x.Excluded = x.Excluded.UTC()
		return x, err
	}, `select id, suite, name, implementation, excluded_reason, excluded_actor, excluded from pawl.series
		where project_id = $1 and excluded is not null order by excluded desc, id desc limit 1000`, project)
	return list, pg.Wrap(err, "cannot list the excluded series of project %d", project)
}
