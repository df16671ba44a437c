package eventstore

import (
	"context"
	"fmt"
	"iter"
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

// TakeReports implements alert.ScanTx. It deletes the marks before any point is read, and waits for transactions that
// mark the same reports: what they change is read by this scan. Those that come later wait for its end, and mark them
// again. Marks are locked in the order of reports, as others do.
func (d scanTx) TakeReports(ctx context.Context, reports, series int) (alert.Taken, error) {
	var t alert.Taken
	rows, err := d.tx.Query(ctx, `select w.report_id, w.since, case when coalesce(r.lane, x.lane) = 0 then coalesce(r.series, x.series) end
		from (select report_id, since from pawl.dirty where project_id = $1 order by since, report_id limit $2) w
		left join pawl.report r on r.project_id = $1 and r.id = w.report_id
		left join pawl.excluded x on x.project_id = $1 and x.report_id = w.report_id
		order by w.since, w.report_id`, d.project, reports)
	if err != nil {
		return t, fmt.Errorf("cannot read the reports to scan: %w", err)
	}
	var taken []int64
	chosen := map[int64]bool{}
	seen := 0
	var report int64
	var since time.Time
	var packed []byte // null if the report was deleted meanwhile, or is in a lane that is not scanned
	_, err = pgx.ForEachRow(rows, []any{&report, &since, &packed}, func() error {
		seen++
		ids, err := pointcodec.UnpackIDs(packed)
		if err != nil || !choose(chosen, ids, series) {
			t.More = true
			return err
		}
		if t.Oldest.IsZero() {
			t.Oldest = since
		}
		taken = append(taken, report)
		return nil
	})
	if err == nil && len(taken) > 0 {
		_, err = d.tx.Exec(ctx, `delete from pawl.dirty d
			using (select report_id from pawl.dirty where project_id = $1 and report_id = any($2) order by report_id for update) t
			where d.project_id = $1 and d.report_id = t.report_id`, d.project, taken)
	}
	if err != nil {
		return t, fmt.Errorf("cannot take the reports to scan: %w", err)
	}
	failpoint.At("look.taken")
	t.Reports, t.More = len(taken), t.More || seen == reports
	t.Series = slices.Sorted(maps.Keys(chosen))
	return t, nil
}

// choose adds the series of a report to those chosen, unless there would be too many. The first report always fits.
func choose(chosen map[int64]bool, ids []int64, most int) bool {
	fresh := 0
	for _, id := range ids {
		if !chosen[id] {
			fresh++
		}
	}
	if len(chosen) > 0 && fresh > 0 && len(chosen)+fresh > most {
		return false
	}
	for _, id := range ids {
		chosen[id] = true
	}
	return true
}

// Limits of the histories in memory at once. One series may have more points.
const (
	historySeries = 128
	historyPoints = 500_000
)

// Histories implements alert.ScanTx. It returns only series of the main lane, whatever a report
// claims.
func (d scanTx) Histories(ctx context.Context, series []int64) iter.Seq2[[]alert.History, error] {
	return func(yield func([]alert.History, error) bool) {
		for some := range slices.Chunk(series, historySeries) {
			list, excluded, err := d.known(ctx, some)
			for alone := false; err == nil && len(list) > 0; {
				var n int
				if n, err = d.addPoints(ctx, list, excluded, &alone); err != nil {
					break
				}
				if !yield(list[:n], nil) {
					return
				}
				clear(list[:n]) // releases the points
				list = list[n:]
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// addPoints reads the points of the first n histories. If some cannot be read, it sets alone and reads one series at
// a time, to find those that are damaged. A failure of the database itself is not counted as damage.
func (d scanTx) addPoints(ctx context.Context, list []alert.History, excluded map[int64]bool, alone *bool) (n int, err error) {
	var ids []int64
	for i := range list {
		if !excluded[list[i].Series] {
			ids = append(ids, list[i].Series)
		}
	}
	wanted := ids
	if *alone {
		wanted = ids[:min(1, len(ids))]
	}
	all, n, err := pointstore.Of(ctx, d.tx, d.project, wanted, historyPoints)
	const alive = 'T' // in a transaction that has not failed
	switch {
	case err == nil:
	case ctx.Err() != nil || d.tx.Conn().PgConn().TxStatus() != alive:
		return 0, err
	case !*alone:
		*alone = true
		return d.addPoints(ctx, list, excluded, alone)
	default:
		n = 1
	}
	for i := range list {
		h := &list[i]
		if n < len(ids) && h.Series == ids[n] {
			return i, nil
		}
		if !excluded[h.Series] {
			h.Damaged = err
		}
		h.Points = make([]alert.Point, len(all[h.Series]))
		for k, p := range all[h.Series] {
			h.Points[k] = alert.Point{At: p.Time(), Report: p.Report, Value: float64(p.Value)}
		}
		delete(all, h.Series)
	}
	return len(list), nil
}

// known reads the stored state and the events of series, and which of them are excluded: those have no points.
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
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the state of %d series: %w", len(series), err)
	}
	events, err := d.events(ctx, `e.series_id = any($2)`, series)
	of := map[int64][]alert.Event{}
	for _, e := range events {
		of[e.Series] = append(of[e.Series], e)
	}
	for i := range list {
		list[i].Events = of[list[i].Series]
	}
	return list, excluded, err
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
