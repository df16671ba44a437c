package eventstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// WithScanLock implements alert.Store. The lock is a database lock that ends with the transaction,
// even after a crash.
func (s *Store) WithScanLock(ctx context.Context, project int64, f func(alert.ScanTx) error) error {
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		var free bool
		err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock(hashtextextended('pawl.look', $1))`, project).Scan(&free)
		if err != nil {
			return fmt.Errorf("cannot check whether project %d is being scanned: %w", project, err)
		}
		if !free {
			return alert.ErrBusy
		}
		if err := f(scanTx{tx, project}); err != nil {
			return err
		}
		failpoint.At("look.before-commit")
		return nil
	})
	if err == nil {
		failpoint.At("look.after-commit")
	}
	return err
}

// scanTx is the transaction of one scan.
type scanTx struct {
	tx      pgx.Tx
	project int64
}

// TakeReports implements alert.ScanTx.
func (d scanTx) TakeReports(ctx context.Context, reports, points int) (alert.Taken, error) {
	var t alert.Taken
	rows, err := d.tx.Query(ctx, `with waiting as (
			select w.report_id, w.since, case when coalesce(r.lane, x.lane) = 0 then coalesce(r.points, x.points) else 0 end as n
			from pawl.dirty w left join pawl.report r on r.project_id = $1 and r.id = w.report_id
			left join pawl.excluded x on x.project_id = $1 and x.report_id = w.report_id
			where w.project_id = $1 order by w.since, w.report_id limit $2 + 1),
		chosen as (
			select report_id from (select report_id, sum(n) over before_it as before, row_number() over (order by since, report_id) as place from waiting
				window before_it as (order by since, report_id rows between unbounded preceding and 1 preceding)) c
			where coalesce(before, 0) < $3 and place <= $2),
		taken as (delete from pawl.dirty where project_id = $1 and report_id in (select report_id from chosen) returning report_id, since)
		select t.since, coalesce(r.series, x.series), coalesce(r.lane, x.lane), (select count(*) from waiting) > (select count(*) from chosen)
		from taken t left join pawl.report r on r.project_id = $1 and r.id = t.report_id
		left join pawl.excluded x on x.project_id = $1 and x.report_id = t.report_id`, d.project, reports, points)
	if err != nil {
		return t, fmt.Errorf("cannot take the reports to scan: %w", err)
	}
	var since time.Time
	var packed []byte
	var lane *int16
	_, err = pgx.ForEachRow(rows, []any{&since, &packed, &lane, &t.More}, func() error {
		if t.Reports++; t.Oldest.IsZero() || since.Before(t.Oldest) {
			t.Oldest = since
		}
		if lane == nil || *lane != 0 { // deleted meanwhile, or in a lane that is not scanned
			return nil
		}
		ids, err := pointcodec.UnpackIDs(packed)
		t.Series = append(t.Series, ids...)
		return err
	})
	if err != nil {
		return t, fmt.Errorf("cannot take the reports to scan: %w", err)
	}
	failpoint.At("look.taken")
	slices.Sort(t.Series)
	t.Series = slices.Compact(t.Series)
	return t, nil
}

// Histories implements alert.ScanTx. It returns only series of the main lane, whatever a report
// claims.
func (d scanTx) Histories(ctx context.Context, series []int64) ([]alert.History, error) {
	list, excluded, err := d.known(ctx, series)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	var scanned []int64
	for i := range list {
		if ids[i] = list[i].Series; !excluded[ids[i]] {
			scanned = append(scanned, ids[i])
		}
	}
	all, err := pointstore.Of(ctx, d.tx, d.project, scanned)
	if err != nil {
		if all, err = d.oneByOne(ctx, list, excluded, err); err != nil {
			return nil, err
		}
	}
	events, err := d.events(ctx, `e.series_id = any($2)`, ids)
	if err != nil {
		return nil, err
	}
	of := map[int64][]alert.Event{}
	for _, e := range events {
		of[e.Series] = append(of[e.Series], e)
	}
	for i := range list {
		h := &list[i]
		h.Events = of[h.Series]
		h.Points = make([]alert.Point, len(all[h.Series]))
		for k, p := range all[h.Series] {
			h.Points[k] = alert.Point{At: p.Time(), Report: p.Report, Value: float64(p.Value)}
		}
	}
	return list, nil
}

// oneByOne reads the points of each series separately, to find the ones that cannot be read. A
// failure of the database itself is not counted as damage.
func (d scanTx) oneByOne(ctx context.Context, list []alert.History, excluded map[int64]bool, why error) (map[int64][]pointcodec.Point, error) {
	const alive = 'T' // in a transaction that has not failed
	all := map[int64][]pointcodec.Point{}
	for i := range list {
		if ctx.Err() != nil || d.tx.Conn().PgConn().TxStatus() != alive {
			return nil, why
		}
		if excluded[list[i].Series] {
			continue
		}
		one, err := pointstore.Of(ctx, d.tx, d.project, []int64{list[i].Series})
		list[i].Damaged = err
		maps.Copy(all, one)
	}
	return all, nil
}

// known reads the stored state of series, and which of them are excluded: those have no points.
func (d scanTx) known(ctx context.Context, series []int64) ([]alert.History, map[int64]bool, error) {
	excluded := map[int64]bool{}
	list, err := pg.Collect(ctx, d.tx, func(row pgx.CollectableRow) (h alert.History, err error) {
		k := &h.Known
		var out bool
		err = row.Scan(&h.Series, &h.Testbed, &h.Higher, &k.Version, &k.Points, &k.First, &k.Last, &k.State, &out)
		excluded[h.Series] = out
		return h, err
	}, `select s.id, s.testbed_id, s.better = 'higher', coalesce(t.version, 0), coalesce(t.points, 0),
			coalesce(t.first_at, 'epoch'), coalesce(t.last_at, 'epoch'), t.state, s.excluded is not null
		from pawl.series s left join pawl.trend_state t on t.project_id = $1 and t.series_id = s.id
		where s.project_id = $1 and s.id = any($2) and s.lane = 0 order by s.id`, d.project, series)
	return list, excluded, pg.Wrap(err, "cannot read the state of %d series", len(series))
}

// Commits implements alert.ScanTx.
func (d scanTx) Commits(ctx context.Context, reports []int64) (map[int64]string, error) {
	commits, err := pg.Pairs[int64, string](ctx, d.tx, `select id, sha from pawl.report where project_id = $1 and id = any($2)`, d.project, reports)
	return commits, pg.Wrap(err, "cannot read the commits of %d reports", len(reports))
}

// EventsBetween implements alert.ScanTx. An empty commit range is represented as alert.Event defines.
func (d scanTx) EventsBetween(ctx context.Context, from, to time.Time) ([]alert.Event, error) {
	return d.events(ctx, `e.at > $2 and least(e.since, e.at - interval '1 microsecond') < $3`, from, to)
}

// EventsOf implements alert.ScanTx.
func (d scanTx) EventsOf(ctx context.Context, groups []int64) ([]alert.Event, error) {
	return d.events(ctx, `e.group_id = any($2)`, groups)
}

// events reads the events that match a condition, in which $1 is the project.
func (d scanTx) events(ctx context.Context, condition string, args ...any) ([]alert.Event, error) {
	list, err := pg.Collect(ctx, d.tx, func(row pgx.CollectableRow) (e alert.Event, err error) {
		err = row.Scan(&e.ID, &e.Series, &e.Testbed, &e.Kind, &e.FirstReport, &e.Worse, &e.From, &e.To,
			&e.Commits, &e.Since, &e.At, &e.Before, &e.After, &e.P, &e.State, &e.Group)
		return e, err
	}, `select e.id, e.series_id, s.testbed_id, e.kind, e.first_report, e.worse, e.from_sha, e.to_sha,
			e.commits, e.since, e.at, e.before, e.after, e.p, e.state, coalesce(e.group_id, 0)
		from pawl.event e join pawl.series s on s.project_id = $1 and s.id = e.series_id
		where e.project_id = $1 and `+condition+` order by e.id`, append([]any{d.project}, args...)...)
	return list, pg.Wrap(err, "cannot read events")
}

// Measured implements alert.ScanTx.
func (d scanTx) Measured(ctx context.Context, before, after time.Time) (map[int64]int, error) {
	counts, err := pg.Pairs[int64, int](ctx, d.tx, `select s.testbed_id, count(*) from pawl.trend_state t
		join pawl.series s on s.project_id = $1 and s.id = t.series_id
		where t.project_id = $1 and t.first_at <= $2 and t.last_at >= $3 group by 1`, d.project, before, after)
	return counts, pg.Wrap(err, "cannot count the series of testbeds")
}
