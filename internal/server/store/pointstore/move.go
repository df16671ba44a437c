package pointstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// Move moves the points of a report to another time, whether they are hot or in tiles. They are hot
// afterwards; compaction later moves them into tiles. The caller holds [LockTiles].
func Move(ctx context.Context, tx pgx.Tx, project, report int64, series []int64, from, to time.Time) error {
	points, err := Take(ctx, tx, project, report, series, from)
	if err != nil {
		return err
	}
	return Put(ctx, tx, project, report, to, NewColumns(points))
}

// Take removes the points of a report, whether they are hot or in tiles, and returns them by series. The
// caller holds [LockTiles].
func Take(ctx context.Context, tx pgx.Tx, project, report int64, series []int64, at time.Time) (map[int64]pointcodec.Point, error) {
	points := map[int64]pointcodec.Point{}
	rows, err := tx.Query(ctx, `delete from pawl.point where project_id = $1 and series_id = any($2) and at = $3 and report_id = $4 returning `+pointColumns,
		project, series, at, report)
	if err != nil {
		return nil, err
	}
	if err := eachPoint(rows, func(id int64, p pointcodec.Point) { points[id] = p }); err != nil {
		return nil, err
	}
	cold := slices.DeleteFunc(slices.Clone(series), func(id int64) bool { _, hot := points[id]; return hot })
	return points, takeFromTiles(ctx, tx, project, report, cold, at, points)
}

// Columns holds points of one report as arrays for the database, sorted by series.
type Columns struct {
	Series                             []int64
	Value, Low, High, Spread, Baseline []float32
	Rounds                             []int32
	Flags                              []int16
}

// NewColumns returns points as arrays.
func NewColumns(points map[int64]pointcodec.Point) Columns {
	var c Columns // fewer than the report's series if retention removed some
	for _, id := range slices.Sorted(maps.Keys(points)) {
		p := points[id]
		c.Series, c.Rounds, c.Flags = append(c.Series, id), append(c.Rounds, p.Rounds), append(c.Flags, int16(p.Flags))
		c.Value, c.Low, c.High = append(c.Value, p.Value), append(c.Low, p.Low), append(c.High, p.High)
		c.Spread, c.Baseline = append(c.Spread, p.Spread), append(c.Baseline, p.Baseline)
	}
	return c
}

// Put adds the points of a report as hot ones. The partition of their month must exist: see
// [Store.MakeMonth].
func Put(ctx context.Context, tx pgx.Tx, project, report int64, at time.Time, c Columns) error {
	_, err := tx.Exec(ctx, `insert into pawl.point (project_id, series_id, at, report_id, value, low, high, spread, baseline, rounds, flags)
		select $1, unnest($4::bigint[]), $3, $2, unnest($5::real[]), unnest($6::real[]), unnest($7::real[]), unnest($8::real[]),
		  unnest($9::real[]), unnest($10::integer[]), unnest($11::smallint[])`,
		project, report, at, c.Series, c.Value, c.Low, c.High, c.Spread, c.Baseline, c.Rounds, c.Flags)
	return err
}

// takeFromTiles removes the points of a report from the tiles that hold them.
func takeFromTiles(ctx context.Context, tx pgx.Tx, project, report int64, series []int64, at time.Time, into map[int64]pointcodec.Point) error {
	if len(series) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `
		delete from pawl.tile t using unnest($2::bigint[]) s(id)
		where t.project_id = $1 and t.series_id = s.id and t.last_at >= $3 and (t.first_at, t.first_report) = (
		  select first_at, first_report from pawl.tile where project_id = $1 and series_id = s.id and (first_at, first_report) <= ($3, $4)
		  order by first_at desc, first_report desc limit 1)
		returning t.series_id, t.first_at, t.first_report, t.last_at, t.n, t.version, t.crc, t.data`, project, series, at, report)
	if err != nil {
		return err
	}
	_, err = rewriteWithout(ctx, tx, project, rows, func(series int64, p pointcodec.Point) bool {
		taken := p.Report == report && p.At == at.UnixMicro()
		if taken {
			into[series] = p
		}
		return taken
	})
	return err
}

// Drop removes the points of reports between two times from series, and returns how many there were. The
// caller holds [LockTiles].
func Drop(ctx context.Context, tx pgx.Tx, project int64, series, reports []int64, from, to time.Time) (int, error) {
	tag, err := tx.Exec(ctx, `delete from pawl.point where project_id = $1 and series_id = any($2) and at between $3 and $4 and report_id = any($5)`, project, series, from, to, reports)
	if err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, `delete from pawl.tile where project_id = $1 and series_id = any($2) and first_at <= $4 and last_at >= $3 returning `+tileColumns, project, series, from, to)
	if err != nil {
		return 0, err
	}
	gone, err := rewriteWithout(ctx, tx, project, rows, func(_ int64, p pointcodec.Point) bool { return slices.Contains(reports, p.Report) })
	return int(tag.RowsAffected()) + gone, err
}

// rewriteWithout writes deleted tiles again, without some of their points. It returns how many it left out.
func rewriteWithout(ctx context.Context, tx pgx.Tx, project int64, rows pgx.Rows, drop func(series int64, p pointcodec.Point) bool) (gone int, err error) {
	var anew []tileRecord
	err = eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
		left := slices.DeleteFunc(points, func(p pointcodec.Point) bool { return drop(r.Series, p) })
		gone += int(r.N) - len(left)
		if len(left) == 0 {
			return nil
		}
		again, err := packTile(r.Series, left)
		anew = append(anew, again)
		return err
	})
	if err != nil {
		return 0, err
	}
	return gone, insertTiles(ctx, tx, project, anew)
}
