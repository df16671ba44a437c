package pointstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// Limits of one read of [Store.Walk]: the number of series, and the points and tiles per series.
const (
	SeriesAtOnce = 50
	walkPoints   = 5_000
	walkTiles    = 20
)

// start is before every point.
var start = pointcodec.Point{At: time.Time{}.UnixMicro(), Report: -1}

// Walk calls do for all points, series by series, in order. It holds a bounded number of points,
// however long the histories are.
func (s *Store) Walk(ctx context.Context, project int64, series []int64, do func(series int64, p pointcodec.Point) error) error {
	for chunk := range slices.Chunk(series, SeriesAtOnce) {
		stretches, err := s.stretches(ctx, project, chunk, start)
		if err != nil {
			return err
		}
		for i, id := range chunk {
			for part := stretches[i]; ; {
				for _, p := range part.points {
					if err := do(id, p); err != nil {
						return err
					}
				}
				if part.whole {
					break
				}
				next, err := s.stretches(ctx, project, []int64{id}, part.points[len(part.points)-1])
				if err != nil {
					return err
				}
				part = next[0]
			}
		}
	}
	return nil
}

// portion is a gapless part of a series; whole means that it reaches the end.
type portion struct {
	points []pointcodec.Point
	whole  bool
}

// stretches reads the points that follow after in each series.
func (s *Store) stretches(ctx context.Context, project int64, series []int64, after pointcodec.Point) ([]portion, error) {
	hot, cold := make([][]pointcodec.Point, len(series)), make([][]pointcodec.Point, len(series))
	tiles := make([]int, len(series))
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		for i, id := range series {
			b.Queue(`select `+pointColumns+` from pawl.point where project_id = $1 and series_id = $2 and at >= $3 and (at, report_id) > ($3, $4)
				order by at, report_id limit $5`, project, id, after.Time(), after.Report, walkPoints).Query(func(rows pgx.Rows) error {
				return eachPoint(rows, func(_ int64, p pointcodec.Point) { hot[i] = append(hot[i], p) })
			})
			// Start at the tile that contains the point, or would contain it.
			b.Queue(`with f as (select first_at, first_report from pawl.tile
					where project_id = $1 and series_id = $2 and (first_at, first_report) <= ($3, $4) order by first_at desc, first_report desc limit 1)
				select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = $2
					and (first_at, first_report) >= (coalesce((select first_at from f), '-infinity'), coalesce((select first_report from f), 0))
				order by first_at, first_report limit $5`, project, id, after.Time(), after.Report, walkTiles).Query(func(rows pgx.Rows) error {
				return eachTile(rows, func(_ tileRecord, points []pointcodec.Point) error {
					tiles[i]++
					cold[i] = append(cold[i], points...)
					return nil
				})
			})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the points of %d series from %s: %w", len(series), after.Time().Format(time.RFC3339), err)
	}
	list := make([]portion, len(series))
	for i := range series {
		list[i] = join(hot[i], cold[i], tiles[i], after)
	}
	return list, nil
}

// join merges hot points and tiles up to the point where both are complete.
func join(hot, cold []pointcodec.Point, tiles int, after pointcodec.Point) portion {
	points, whole := pointcodec.Merge(cold, hot), true
	cut := func(last pointcodec.Point) {
		n, found := slices.BinarySearchFunc(points, last, pointcodec.Compare)
		if found {
			n++
		}
		points, whole = points[:n], false
	}
	if len(hot) == walkPoints {
		cut(hot[len(hot)-1])
	}
	if tiles == walkTiles {
		cut(cold[len(cold)-1])
	}
	n, found := slices.BinarySearchFunc(points, after, pointcodec.Compare)
	if found {
		n++
	}
	points = points[n:]
	return portion{points, whole || len(points) == 0}
}
