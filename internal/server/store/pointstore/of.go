package pointstore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Of returns all points of the first n of series, as stored, without commits. These are as many series as have at
// most about most hot points, and as many in tiles; the first one is read whole in any case. The ids must be
// ascending. A series without points is not in the result. It reads hot points first, like pointsIn.
func Of(ctx context.Context, q pg.Querier, project int64, series []int64, most int) (points map[int64][]pointcodec.Point, n int, err error) {
	hot, n, err := hotOf(ctx, q, project, series, most)
	if err == nil && n > 0 {
		points, n, err = tilesOf(ctx, q, project, series[:n], most/pointcodec.MaxPoints+1)
	}
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("cannot read the points of %d series of project %d: %w", len(series), project, err)
	case n == 0 && len(series) > 0:
		return Of(ctx, q, project, series[:1], math.MaxInt)
	}
	for _, id := range series[:n] {
		if list := hot[id]; len(list) > 0 {
			points[id] = pointcodec.Merge(points[id], list)
		}
	}
	return points, n, nil
}

// hotOf returns the hot points of the first n of series, of which it read all within a limit of rows.
func hotOf(ctx context.Context, q pg.Querier, project int64, series []int64, limit int) (hot map[int64][]pointcodec.Point, n int, err error) {
	hot = map[int64][]pointcodec.Point{}
	read, last := 0, int64(0)
	rows, err := q.Query(ctx, `select `+pointColumns+` from pawl.point where project_id = $1 and series_id = any($2) order by series_id, at, report_id limit $3`, project, series, limit)
	if err == nil {
		err = eachPoint(rows, func(id int64, p pointcodec.Point) {
			hot[id] = append(hot[id], p)
			read, last = read+1, id
		})
	}
	return hot, whole(series, read == limit, last), err
}

// tilesOf is hotOf for the points in tiles.
func tilesOf(ctx context.Context, q pg.Querier, project int64, series []int64, limit int) (cold map[int64][]pointcodec.Point, n int, err error) {
	cold = map[int64][]pointcodec.Point{}
	read, last := 0, int64(0)
	rows, err := q.Query(ctx, `select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = any($2) order by series_id, first_at, first_report limit $3`, project, series, limit)
	if err == nil {
		err = eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
			cold[r.Series] = append(cold[r.Series], points...)
			read, last = read+1, r.Series
			return nil
		})
	}
	n = whole(series, read == limit, last)
	if n < len(series) {
		delete(cold, last)
	}
	return cold, n, err
}

// whole returns how many of series were read to their end. If the limit was reached, the last one may have more.
func whole(series []int64, limited bool, last int64) int {
	if !limited {
		return len(series)
	}
	n, _ := slices.BinarySearch(series, last)
	return n
}
