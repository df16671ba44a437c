package pointstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// tileRow is the state of checking a series tile by tile.
type tileRow struct {
	series    int64
	last, end pointcodec.Point // first and last point of the latest tile
	whole     bool             // all tiles so far are readable
	n         int              // tiles in the latest portion
}

// CheckTiles checks each tile of series, and that it does not overlap the previous one. It calls problem
// with an error that wraps [ErrDamaged], or with one for an overlap. It returns the series whose tiles are
// all readable.
func (s *Store) CheckTiles(ctx context.Context, project int64, series []int64, problem func(error)) (sound []int64, err error) {
	var rows []*tileRow
	for _, id := range series {
		rows = append(rows, &tileRow{series: id, last: start, whole: true})
	}
	for more := rows; len(more) > 0; {
		err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
			for _, row := range more {
				row.n = 0
				b.Queue(`select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = $2 and (first_at, first_report) > ($3, $4)
					order by first_at, first_report limit $5`, project, row.series, row.last.Time(), row.last.Report, walkTiles).Query(func(rows pgx.Rows) error {
					return eachTileRecord(rows, func(r tileRecord) error {
						if err := row.check(r); err != nil {
							problem(err)
						}
						return nil
					})
				})
			}
		})
		if err != nil {
			return nil, err
		}
		more = slices.DeleteFunc(slices.Clone(more), func(row *tileRow) bool { return row.n < walkTiles })
	}
	for _, row := range rows {
		if row.whole {
			sound = append(sound, row.series)
		}
	}
	return sound, nil
}

func (row *tileRow) check(r tileRecord) error {
	row.n++
	row.last = pointcodec.Point{At: r.FirstAt.UnixMicro(), Report: r.FirstReport}
	points, err := r.open()
	if err != nil {
		row.whole = false
		return err
	}
	before := row.end
	row.end = points[len(points)-1]
	// A tile may have been split between two portions, so compare only within a portion.
	if row.n > 1 && row.whole && pointcodec.Compare(before, row.last) >= 0 {
		return fmt.Errorf("the tile of series %d from %s starts before the previous one ends", row.series, r.FirstAt.UTC().Format(time.RFC3339))
	}
	return nil
}
