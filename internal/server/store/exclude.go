package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Excluded is a run that was taken out of the history.
type Excluded struct {
	ID       int64      `json:"id"`
	Run      string     `json:"run"`
	Suite    string     `json:"suite"`
	Commit   string     `json:"commit"`
	Points   int        `json:"points"`
	Reason   string     `json:"reason"`
	Actor    string     `json:"actor"`
	Excluded time.Time  `json:"excluded"`
	Deleted  *time.Time `json:"deleted,omitempty"` // it cannot be restored
}

// ErrDeleted means that an excluded run or series was deleted.
var ErrDeleted = errors.New("it was deleted and cannot be restored")

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 500

// ExcludeRun takes a run out of the history: its report, its points, and the events that follow from them.
// Everything else is then as if the run had never been sent, once its series are scanned again. The run can be
// restored, and sending it again changes nothing. It waits for compaction, and reports do not wait for it.
func (s *Store) ExcludeRun(ctx context.Context, project, id int64, actor, reason string) error {
	if reason == "" || len(reason) > maxReason {
		return &pg.InvalidError{What: fmt.Sprintf("a reason of 1 to %d bytes is needed", maxReason)}
	}
	err := s.changeScanned(ctx, project, actor, "run.exclude", func(in *Store) (map[string]string, error) {
		detail := map[string]string{"id": strconv.FormatInt(id, 10), "reason": reason}
		return detail, in.db.InProject(ctx, project, func(tx pgx.Tx) (err error) {
			detail["run"], err = in.exclude(ctx, tx, project, id, sanitizeText(actor), sanitizeText(reason))
			return err
		})
	})
	return pg.Wrap(pg.Input(err), "cannot exclude run %d of project %d", id, project)
}

func (s *Store) exclude(ctx context.Context, tx pgx.Tx, project, id int64, actor, reason string) (run string, err error) {
	if err := pointstore.LockTiles(ctx, tx, project); err != nil {
		return "", err
	}
	var at time.Time
	var packed []byte
	err = tx.QueryRow(ctx, `select run, at, series from pawl.report where project_id = $1 and id = $2 for update`, project, id).Scan(&run, &at, &packed)
	if err != nil {
		return "", pg.Found(err)
	}
	series, err := pointcodec.UnpackIDs(packed)
	if err != nil {
		return "", err
	}
	points, err := pointstore.Take(ctx, tx, project, id, series, at)
	if err != nil {
		return "", err
	}
	c := pointstore.NewColumns(points)
	_, err = tx.Exec(ctx, `with r as (delete from pawl.report r where project_id = $1 and id = $2 returning r.*)
		insert into pawl.excluded (project_id, report_id, run, suite, sha, lane, at, received, points, series, reason, actor, excluded, report,
		  ids, value, low, high, spread, baseline, rounds, flags)
		select r.project_id, r.id, r.run, r.suite, r.sha, r.lane, r.at, r.received, r.points, r.series, $3::text, $4::text, $5::timestamptz, to_jsonb(r),
		  $6::bigint[], $7::real[], $8::real[], $9::real[], $10::real[], $11::real[], $12::integer[], $13::smallint[] from r`,
		project, id, reason, actor, s.db.Now(), c.Series, c.Value, c.Low, c.High, c.Spread, c.Baseline, c.Rounds, c.Flags)
	if err != nil {
		return "", err
	}
	return run, s.rescan(ctx, tx, project, id, series)
}

// markSQL marks a report for a scan. It updates a mark that is there already: that locks it, so that a scan which
// takes it waits for the end of this transaction, and reads what it changed.
const markSQL = `insert into pawl.dirty (project_id, report_id, since) values ($1, $2, $3)
	on conflict (project_id, report_id) do update set since = excluded.since`

// rescan makes the next scan read series in full. The finder's stored state is valid only for points that
// are appended.
func (s *Store) rescan(ctx context.Context, tx pgx.Tx, project, report int64, series []int64) error {
	b := &pgx.Batch{}
	b.Queue(markSQL, project, report, s.db.Now())
	b.Queue(`update pawl.trend_state set version = 0 where project_id = $1 and series_id = any($2)`, project, series)
	return tx.SendBatch(ctx, b).Close()
}

// changeScanned is ChangeAudited for changes that call rescan.
func (s *Store) changeScanned(ctx context.Context, project int64, actor, action string, change func(in *Store) (map[string]string, error)) error {
	err := s.ChangeAudited(ctx, project, actor, action, change)
	if err == nil {
		s.scan(ctx, project)
	}
	return err
}

// RestoreRun puts an excluded run back.
func (s *Store) RestoreRun(ctx context.Context, project, id int64, actor string) error {
	for pass := 0; ; pass++ {
		x, err := s.excludedRow(ctx, s.db.Of(project), project, id)
		if err == nil {
			err = s.MakeMonth(ctx, x.at)
		}
		if err == nil {
			err = s.changeScanned(ctx, project, actor, "run.restore", func(in *Store) (map[string]string, error) {
				return map[string]string{"id": strconv.FormatInt(id, 10), "run": x.run}, in.db.InProject(ctx, project, func(tx pgx.Tx) error {
					return in.restore(ctx, tx, project, id)
				})
			})
		}
		if pass < 4 && pointstore.LostPartition(err) {
			s.ForgetMonth(x.at)
			continue
		}
		return pg.Wrap(err, "cannot restore run %d of project %d", id, project)
	}
}

// excludedRow is what restoring a run needs beside its report.
type excludedRow struct {
	run     string
	at      time.Time
	packed  []byte
	deleted *time.Time
	points  pointstore.Columns
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (s *Store) excludedRow(ctx context.Context, q rowQuerier, project, id int64) (x excludedRow, err error) {
	c := &x.points
	err = q.QueryRow(ctx, `select run, at, series, deleted, ids, value, low, high, spread, baseline, rounds, flags
		from pawl.excluded where project_id = $1 and report_id = $2 for update`, project, id).
		Scan(&x.run, &x.at, &x.packed, &x.deleted, &c.Series, &c.Value, &c.Low, &c.High, &c.Spread, &c.Baseline, &c.Rounds, &c.Flags)
	if err == nil && x.deleted != nil {
		err = ErrDeleted
	}
	return x, pg.Found(err)
}

func (s *Store) restore(ctx context.Context, tx pgx.Tx, project, id int64) error {
	if err := pointstore.LockTiles(ctx, tx, project); err != nil {
		return err
	}
	x, err := s.excludedRow(ctx, tx, project, id)
	if err != nil {
		return err
	}
	// A column that a later version added, and that is not listed here, gets its default.
	const columns = `project_id, id, run, suite, measured, received, at, placed, sha, branch, pull, lane, trust, pawl, testbed_id,
		health, verdict, sentence, points, series, sender`
	_, err = tx.Exec(ctx, `with x as (delete from pawl.excluded where project_id = $1 and report_id = $2 returning report)
		insert into pawl.report (`+columns+`) overriding system value
		select `+columns+` from jsonb_populate_record(null::pawl.report, (select report from x))`, project, id)
	if err != nil {
		return err
	}
	if err := pointstore.Put(ctx, tx, project, id, x.at, x.points); err != nil {
		return err
	}
	series, err := pointcodec.UnpackIDs(x.packed)
	if err != nil {
		return err
	}
	return s.rescan(ctx, tx, project, id, series)
}

// DeleteRun deletes the data of an excluded run for good. The run stays in the list of excluded ones, so that
// it cannot be sent again; its files are collected later.
func (s *Store) DeleteRun(ctx context.Context, project, id int64, actor string) error {
	err := s.ChangeAudited(ctx, project, actor, "run.delete", func(in *Store) (map[string]string, error) {
		var run string
		err := in.db.InProject(ctx, project, func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `update pawl.excluded set deleted = $3, report = null, ids = null, value = null, low = null, high = null,
				  spread = null, baseline = null, rounds = null, flags = null
				where project_id = $1 and report_id = $2 and deleted is null returning run`, project, id, s.db.Now()).Scan(&run)
			if err != nil {
				return pg.Found(err)
			}
			_, err = tx.Exec(ctx, `delete from pawl.report_blob where project_id = $1 and report_id = $2`, project, id)
			return err
		})
		return map[string]string{"id": strconv.FormatInt(id, 10), "run": run}, err
	})
	return pg.Wrap(err, "cannot delete run %d of project %d: it must be excluded first", id, project)
}

// ExcludedRuns lists the excluded runs of a project, most recently excluded first.
func (s *Store) ExcludedRuns(ctx context.Context, project int64) ([]Excluded, error) {
	list, err := pg.List(ctx, s.db, project, func(row pgx.CollectableRow) (x Excluded, err error) {
		err = row.Scan(&x.ID, &x.Run, &x.Suite, &x.Commit, &x.Points, &x.Reason, &x.Actor, &x.Excluded, &x.Deleted)
		x.Excluded = x.Excluded.UTC()
		return x, err
	}, `select report_id, run, suite, sha, points, reason, actor, excluded, deleted from pawl.excluded
		where project_id = $1 order by excluded desc, report_id desc limit 1000`, project)
	return list, pg.Wrap(err, "cannot list the excluded runs of project %d", project)
}
