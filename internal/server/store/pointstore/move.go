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
	points := map[int64]pointcodec.Point{}
	rows, err := tx.Query(ctx, `delete from pawl.point where project_id = $1 and series_id = any($2) and at = $3 and report_id = $4 returning `+pointColumns,
		project, series, from, report)
	if err != nil {
		return err
	}
	if err := eachPoint(rows, func(id int64, p pointcodec.Point) { points[id] = p }); err != nil {
		return err
	}
	cold := slices.DeleteFunc(slices.Clone(series), func(id int64) bool { _, hot := points[id]; return hot })
	if err := takeFromTiles(ctx, tx, project, report, cold, from, points); err != nil {
		return err
	}
	n := len(points) // fewer than series if retention removed some
	ids, rounds, flags := make([]int64, n), make([]int32, n), make([]int16, n)
	value, low, high, spread, baseline := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i, id := range slices.Sorted(maps.Keys(points)) {
		p := points[id]
		ids[i], rounds[i], flags[i] = id, p.Rounds, int16(p.Flags)
		value[i], low[i], high[i], spread[i], baseline[i] = p.Value, p.Low, p.High, p.Spread, p.Baseline
	}
	_, err = tx.Exec(ctx, `insert into pawl.point (project_id, series_id, at, report_id, value, low, high, spread, baseline, rounds, flags)
		select $1, unnest($4::bigint[]), $3, $2, unnest($5::real[]), unnest($6::real[]), unnest($7::real[]), unnest($8::real[]),
		  unnest($9::real[]), unnest($10::integer[]), unnest($11::smallint[])`,
		project, report, to, ids, value, low, high, spread, baseline, rounds, flags)
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
