package fsck

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// expected holds what a report states about its points.
type expected struct {
	at     int64
	points int32 // not found yet
}

// points reads every point and compares the counts with the reports. No point may lack its
// report, be missing, or occur twice.
func (f *fsck) points(ctx context.Context) error {
	deleted, err := pg.List(ctx, f.s.DB(), f.project, pgx.RowTo[int64], `select id from pawl.series where project_id = $1 and deleted is not null order by id`, f.project)
	if err != nil {
		return err
	}
	f.deleted = deleted
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
		rows, err := pg.List(ctx, f.s.DB(), f.project, pgx.RowToStructByPos[struct {
			ID     int64
			At     time.Time
			Points int32
			Series []byte
		}], `select id, at, points, case when $3 then series end from pawl.report where project_id = $1 and id > $2 order by id limit 10000`, f.project, after, len(f.deleted) > 0)
		if err != nil || len(rows) == 0 {
			return all, err
		}
		for _, r := range rows {
			gone, err := f.deletedOf(r.Series)
			if err != nil {
				return nil, err
			}
			all[r.ID] = expected{r.At.UnixMicro(), r.Points - int32(gone)}
		}
		after = rows[len(rows)-1].ID
	}
}

// deletedOf returns how many of the series of a report were deleted: their points are gone, or will be.
func (f *fsck) deletedOf(packed []byte) (n int, err error) {
	if len(f.deleted) == 0 || len(packed) == 0 {
		return 0, nil
	}
	ids, err := pointcodec.UnpackIDs(packed)
	for _, id := range ids {
		if _, gone := slices.BinarySearch(f.deleted, id); gone {
			n++
		}
	}
	return n, err
}

// seriesAfter returns the next ids of series that have a row, hot points or tiles. It includes
// points and tiles whose series row is missing.
func (f *fsck) seriesAfter(ctx context.Context, after int64) ([]int64, error) {
	return pg.List(ctx, f.s.DB(), f.project, pgx.RowTo[int64], `select id from (
		(select id from pawl.series where project_id = $1 and id > $2 order by id limit $3)
		union (select series_id from pawl.point where project_id = $1 and series_id > $2 group by series_id order by series_id limit $3)
		union (select series_id from pawl.tile where project_id = $1 and series_id > $2 group by series_id order by series_id limit $3)) s
		order by id limit $3`, f.project, after, pointstore.SeriesAtOnce)
}

func (f *fsck) seriesPoints(ctx context.Context, ids []int64, reports map[int64]expected, strange map[int64]misplacedPoint) error {
	sound, err := f.s.CheckTiles(ctx, f.project, ids, func(err error) {
		do := doReport
		if errors.Is(err, pointstore.ErrDamaged) {
			do = doRestore
		}
		f.tell("tile", do, "%v", err)
	})
	if err != nil {
		return err
	}
	known, err := pg.List(ctx, f.s.DB(), f.project, pgx.RowTo[int64], `select id from pawl.series where project_id = $1 and id = any($2)`, f.project, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			f.tell("point", doReport, "there are points of series %d, which does not exist", id)
		}
	}
	return f.s.Walk(ctx, f.project, sound, func(series int64, p pointcodec.Point) error {
		if _, gone := slices.BinarySearch(f.deleted, series); gone {
			return nil
		}
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

// recount checks one report again: it may have arrived, moved or been deleted during the check.
func (f *fsck) recount(ctx context.Context, id int64, odd misplacedPoint) error {
	if odd.series != 0 {
		stored, err := f.s.Points(ctx, f.project, odd.series, pointstore.Range{From: odd.at, To: odd.at})
		if err != nil {
			return err
		}
		still := slices.ContainsFunc(stored, func(p client.StoredPoint) bool { return p.Report == id })
		run, err := f.s.Run(ctx, f.project, id)
		switch {
		case still && errors.Is(err, store.ErrNotFound):
			f.tell("point", doReport, "series %d has a point at %s of report %d, which does not exist", odd.series, odd.at.Format(time.RFC3339), id)
			return nil
		case still && err == nil && !run.At.Equal(odd.at):
			f.tell("point", doReport, "a point of report %d in series %d has the time %s, but the report has %s", id, odd.series, odd.at.Format(time.RFC3339), run.At.Format(time.RFC3339))
		}
	}
	run, err := f.s.Run(ctx, f.project, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the report was deleted with its points
	}
	if err != nil {
		return err
	}
	list, err := f.s.RunSeries(ctx, f.project, id)
	if errors.Is(err, pointstore.ErrDamaged) {
		return nil // already reported
	}
	if err != nil {
		return err
	}
	packed, err := pg.One(ctx, f.s.DB(), f.project, pgx.RowTo[[]byte], `select series from pawl.report where project_id = $1 and id = $2`, f.project, id)
	if err != nil {
		return err
	}
	gone, err := f.deletedOf(packed)
	if want := run.Points - gone; err == nil && len(list) != want {
		f.tell("report", doRestore, "report %d (run %s) should have %d points but has %d", id, run.Run, want, len(list))
	}
	return err
}
