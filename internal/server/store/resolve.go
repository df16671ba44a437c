package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// resolveBatch is the maximum number of reports moved per transaction.
const resolveBatch = 16

// Resolve moves points to the time of their commit once it is known, whether they are hot or in
// tiles. It marks their reports dirty, so that their series are scanned again in full. It returns
// the number of reports moved.
func (s *Store) Resolve(ctx context.Context, project int64) (reports int, err error) {
	for {
		ids, err := s.resolvable(ctx, project)
		if err != nil || len(ids) == 0 {
			return reports, err
		}
		moved := 0
		err = s.inProject(ctx, project, func(tx pgx.Tx) (err error) {
			moved, err = resolve(ctx, tx, project, ids)
			return err
		})
		if err != nil {
			return reports, fmt.Errorf("cannot move points of project %d to their commits: %w", project, err)
		}
		failpoint.At("resolve.after-commit")
		if reports += moved; moved == 0 {
			return reports, nil // another server is doing it
		}
	}
}

// resolvable returns reports that can be moved now and creates the partitions they need. A commit
// time from a less trusted lane does not count.
func (s *Store) resolvable(ctx context.Context, project int64) ([]int64, error) {
	rows, err := s.of(project).Query(ctx, `
		select r.id, v.at from pawl.report r join pawl.revision v on v.project_id = $1 and v.sha = r.sha
		where r.project_id = $1 and not r.placed and v.at >= $4 and v.at < $2 and v.lane <= r.lane
		order by r.id limit $3`, project, s.now().AddDate(0, 6, 0), resolveBatch, s.oldest())
	if err != nil {
		return nil, fmt.Errorf("cannot look up resolved commits of project %d: %w", project, err)
	}
	var ids []int64
	var months []time.Time
	var id int64
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		ids, months = append(ids, id), append(months, at)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("cannot look up resolved commits of project %d: %w", project, err)
	}
	for _, at := range months {
		s.known.months.forget(monthOf(at)) // it may have been dropped since; old months are mostly empty
		if err := s.makeMonth(ctx, at); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// pendingMove is a report to move, with its old and new time.
type pendingMove struct {
	id       int64
	from, to time.Time
	packed   []byte
}

func resolve(ctx context.Context, tx pgx.Tx, project int64, ids []int64) (int, error) {
	if err := lockTiles(ctx, tx, project); err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, `
		select r.id, r.at, v.at, r.series from pawl.report r join pawl.revision v on v.project_id = $1 and v.sha = r.sha
		where r.project_id = $1 and r.id = any($2) and not r.placed and v.at is not null order by r.id for update of r skip locked`, project, ids)
	if err != nil {
		return 0, err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m pendingMove, err error) {
		err = row.Scan(&m.id, &m.from, &m.to, &m.packed)
		return m, err
	})
	if err != nil {
		return 0, err
	}
	for _, m := range list {
		if err := m.move(ctx, tx, project); err != nil {
			return 0, fmt.Errorf("report %d: %w", m.id, err)
		}
	}
	failpoint.At("resolve.moved")
	return len(list), nil
}

// move deletes the report's points and inserts them, hot, at their new time. Compaction later moves
// them into tiles.
func (m pendingMove) move(ctx context.Context, tx pgx.Tx, project int64) error {
	series, err := unpackIDs(m.packed)
	if err != nil {
		return err
	}
	points := map[int64]pointcodec.Point{}
	if err := m.takeHot(ctx, tx, project, series, points); err != nil {
		return err
	}
	var rest []int64
	for _, id := range series {
		if _, ok := points[id]; !ok {
			rest = append(rest, id)
		}
	}
	if err := m.takeFromTiles(ctx, tx, project, rest, points); err != nil {
		return err
	}
	var c columns
	for _, id := range series {
		p, ok := points[id]
		if !ok {
			continue // removed by retention
		}
		c.series, c.rounds, c.flags = append(c.series, id), append(c.rounds, p.Rounds), append(c.flags, int16(p.Flags))
		c.value, c.low, c.high = append(c.value, p.Value), append(c.low, p.Low), append(c.high, p.High)
		c.spread, c.baseline = append(c.spread, p.Spread), append(c.baseline, p.Baseline)
	}
	b := &pgx.Batch{}
	b.Queue(`insert into pawl.point (project_id, series_id, at, report_id, value, low, high, spread, baseline, rounds, flags)
		select $1, unnest($4::bigint[]), $3, $2, unnest($5::real[]), unnest($6::real[]), unnest($7::real[]), unnest($8::real[]),
		  unnest($9::real[]), unnest($10::integer[]), unnest($11::smallint[])`,
		project, m.id, m.to, c.series, c.value, c.low, c.high, c.spread, c.baseline, c.rounds, c.flags)
	b.Queue(`update pawl.report set at = $3, placed = true where project_id = $1 and id = $2`, project, m.id, m.to)
	b.Queue(`insert into pawl.dirty (project_id, report_id) values ($1, $2) on conflict do nothing`, project, m.id)
	// The finder's stored state is valid only for points that are appended.
	b.Queue(`update pawl.trend_state set version = 0 where project_id = $1 and series_id = any($2)`, project, series)
	return tx.SendBatch(ctx, b).Close()
}

func (m pendingMove) takeHot(ctx context.Context, tx pgx.Tx, project int64, series []int64, into map[int64]pointcodec.Point) error {
	rows, err := tx.Query(ctx, `delete from pawl.point where project_id = $1 and series_id = any($2) and at = $3 and report_id = $4 returning `+pointColumns,
		project, series, m.from, m.id)
	if err != nil {
		return err
	}
	return eachPoint(rows, func(id int64, p pointcodec.Point) { into[id] = p })
}

// takeFromTiles rewrites the tiles that hold the points, without those points.
func (m pendingMove) takeFromTiles(ctx context.Context, tx pgx.Tx, project int64, series []int64, into map[int64]pointcodec.Point) error {
	if len(series) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `
		delete from pawl.tile t using unnest($2::bigint[]) s(id)
		where t.project_id = $1 and t.series_id = s.id and t.last_at >= $3 and (t.first_at, t.first_report) = (
		  select first_at, first_report from pawl.tile where project_id = $1 and series_id = s.id and (first_at, first_report) <= ($3, $4)
		  order by first_at desc, first_report desc limit 1)
		returning t.series_id, t.first_at, t.first_report, t.last_at, t.n, t.version, t.crc, t.data`, project, series, m.from, m.id)
	if err != nil {
		return err
	}
	var anew []tileRecord
	err = eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
		left := make([]pointcodec.Point, 0, len(points))
		for _, p := range points {
			if p.Report == m.id && p.At == m.from.UnixMicro() {
				into[r.Series] = p
			} else {
				left = append(left, p)
			}
		}
		if len(left) == 0 {
			return nil
		}
		again, err := packTile(r.Series, left)
		anew = append(anew, again)
		return err
	})
	if err != nil {
		return err
	}
	return insertTiles(ctx, tx, project, anew)
}
