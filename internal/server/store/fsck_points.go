package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// expected holds what a report states about its points.
type expected struct {
	at     int64
	points int32 // not found yet
}

// points reads every point and compares the counts with the reports. No point may lack its
// report, be missing, or occur twice.
func (f *fsck) points(ctx context.Context) error {
	reports, err := f.reports(ctx)
	if err != nil {
		return err
	}
	strange := map[int64]misplacedPoint{} // by report, to be checked again
	for after := int64(0); ; {
		ids, err := f.seriesAfter(ctx, after)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		if err := f.seriesPoints(ctx, ids, reports, strange); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
	for id, r := range reports {
		if _, already := strange[id]; r.points != 0 && !already {
			strange[id] = misplacedPoint{}
		}
	}
	for n, id := range slices.Sorted(maps.Keys(strange)) {
		if n > f.o.Most {
			break
		}
		if err := f.recount(ctx, id, strange[id]); err != nil {
			return err
		}
	}
	return nil
}

// misplacedPoint is a point that its report does not list. It is zero if points are missing.
type misplacedPoint struct {
	series int64
	at     time.Time
}

// reports returns all reports of the project, with the number of points each should have.
func (f *fsck) reports(ctx context.Context) (map[int64]expected, error) {
	all := map[int64]expected{}
	for after := int64(0); ; {
		rows, err := listOf(ctx, f.s, f.project, pgx.RowToStructByPos[struct {
			ID     int64
			At     time.Time
			Points int32
		}], `select id, at, points from pawl.report where project_id = $1 and id > $2 order by id limit 10000`, f.project, after)
		if err != nil || len(rows) == 0 {
			return all, err
		}
		for _, r := range rows {
			all[r.ID] = expected{r.At.UnixMicro(), r.Points}
		}
		after = rows[len(rows)-1].ID
	}
}

// seriesAfter returns the next ids of series that have a row, hot points or tiles. It includes
// points and tiles whose series row is missing.
func (f *fsck) seriesAfter(ctx context.Context, after int64) ([]int64, error) {
	return listOf(ctx, f.s, f.project, pgx.RowTo[int64], `select id from (
		(select id from pawl.series where project_id = $1 and id > $2 order by id limit $3)
		union (select series_id from pawl.point where project_id = $1 and series_id > $2 group by series_id order by series_id limit $3)
		union (select series_id from pawl.tile where project_id = $1 and series_id > $2 group by series_id order by series_id limit $3)) s
		order by id limit $3`, f.project, after, walkSeries)
}

func (f *fsck) seriesPoints(ctx context.Context, ids []int64, reports map[int64]expected, strange map[int64]misplacedPoint) error {
	sound, err := f.tiles(ctx, ids)
	if err != nil {
		return err
	}
	known, err := listOf(ctx, f.s, f.project, pgx.RowTo[int64], `select id from pawl.series where project_id = $1 and id = any($2)`, f.project, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			f.tell("point", doReport, "there are points of series %d, which does not exist", id)
		}
	}
	return f.s.walk(ctx, f.project, sound, func(series int64, p pointcodec.Point) error {
		r, there := reports[p.Report]
		if !there || r.at != p.At {
			strange[p.Report] = misplacedPoint{series, p.Time()}
			return nil
		}
		r.points--
		reports[p.Report] = r
		return nil
	})
}

// tileRow is the state of checking a series tile by tile.
type tileRow struct {
	series    int64
	last, end pointcodec.Point // first and last point of the latest tile
	whole     bool             // all tiles so far are readable
	n         int              // tiles in the latest portion
}

// tiles checks each tile, and that it does not overlap the previous one. It returns the series
// whose tiles are all readable.
func (f *fsck) tiles(ctx context.Context, ids []int64) (sound []int64, err error) {
	var rows []*tileRow
	for _, id := range ids {
		rows = append(rows, &tileRow{series: id, last: pointcodec.Point{At: pastEnd.UnixMicro(), Report: -1}, whole: true})
	}
	for more := rows; len(more) > 0; {
		err := f.s.readBatch(ctx, f.project, func(b *pgx.Batch) {
			for _, row := range more {
				row.n = 0
				b.Queue(`select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = $2 and (first_at, first_report) > ($3, $4)
					order by first_at, first_report limit $5`, f.project, row.series, row.last.Time(), row.last.Report, walkTiles).Query(func(rows pgx.Rows) error {
					return eachTileRecord(rows, func(r tileRecord) error { f.tile(row, r); return nil })
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

func (f *fsck) tile(row *tileRow, r tileRecord) {
	row.n++
	row.last = pointcodec.Point{At: r.FirstAt.UnixMicro(), Report: r.FirstReport}
	points, err := r.open()
	if err != nil {
		f.tell("tile", doRestore, "%v", err)
		row.whole = false
		return
	}
	// A tile may have been split between two portions, so compare only within a portion.
	if row.n > 1 && row.whole && pointcodec.Compare(row.end, row.last) >= 0 {
		f.tell("tile", doReport, "the tile of series %d from %s starts before the previous one ends", row.series, r.FirstAt.UTC().Format(time.RFC3339))
	}
	row.end = points[len(points)-1]
}

// recount checks one report again: it may have arrived, moved or been deleted during the check.
func (f *fsck) recount(ctx context.Context, id int64, odd misplacedPoint) error {
	if odd.series != 0 {
		points, err := f.s.Points(ctx, f.project, odd.series, Range{From: odd.at, To: odd.at})
		if err != nil {
			return err
		}
		still := slices.ContainsFunc(points, func(p client.StoredPoint) bool { return p.Report == id })
		run, err := f.s.Run(ctx, f.project, id)
		switch {
		case still && errors.Is(err, ErrNotFound):
			f.tell("point", doReport, "series %d has a point at %s of report %d, which does not exist", odd.series, odd.at.Format(time.RFC3339), id)
			return nil
		case still && err == nil && !run.At.Equal(odd.at):
			f.tell("point", doReport, "a point of report %d in series %d has the time %s, but the report has %s", id, odd.series, odd.at.Format(time.RFC3339), run.At.Format(time.RFC3339))
		}
	}
	run, err := f.s.Run(ctx, f.project, id)
	if errors.Is(err, ErrNotFound) {
		return nil // the report was deleted with its points
	}
	if err != nil {
		return err
	}
	points, err := f.s.RunSeries(ctx, f.project, id)
	if errors.Is(err, ErrDamaged) {
		return nil // already reported
	}
	if err == nil && len(points) != run.Points {
		f.tell("report", doRestore, "report %d (run %s) should have %d points but has %d", id, run.Run, run.Points, len(points))
	}
	return err
}
