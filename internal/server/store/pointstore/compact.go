package pointstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// CompactOptions selects the points to move into tiles.
type CompactOptions struct {
	Project int64     // 0 means all
	Before  time.Time // only points dated before it; zero means [CompactBefore] of now
	Batch   int       // max points per transaction; 0 means 20,000
}

// Compacted counts what a compaction did.
type Compacted struct {
	Points int `json:"points"` // moved into tiles
	Tiles  int `json:"tiles"`  // written
	Again  int `json:"again"`  // of those, existing tiles that were rewritten
}

// CompactBefore returns the time before which points are compacted: the start of a month. All months
// before it ended at least ten days ago. A partition is then emptied once and dropped, and each tile is
// written a few times instead of every night.
func CompactBefore(now time.Time) time.Time {
	return monthOf(now.UTC().AddDate(0, 0, -10))
}

// Compact moves points dated before a time into tiles. Each transaction removes a bounded
// number of hot points and writes the tiles that hold them. If it is interrupted, every point is
// in exactly one of the two places. Reports may arrive during compaction: a transaction moves
// only the rows it removed. Late points go into the tile that covers them.
func (s *Store) Compact(ctx context.Context, o CompactOptions) (Compacted, error) {
	if o.Before.IsZero() {
		o.Before = CompactBefore(s.db.Now())
	}
	if o.Batch <= 0 {
		o.Batch = 20_000
	}
	var done Compacted
	projects, err := s.db.Projects(ctx, o.Project)
	if err != nil {
		return done, err
	}
	for _, project := range projects {
		for from := int64(0); ; {
			next, one, err := s.compactBatch(ctx, project, from, o)
			if err != nil {
				return done, fmt.Errorf("cannot compact project %d: %w", project, err)
			}
			done.Points, done.Tiles, done.Again = done.Points+one.Points, done.Tiles+one.Tiles, done.Again+one.Again
			if one.Points < o.Batch {
				break
			}
			from = next
		}
	}
	return done, nil
}

// LockTiles waits for exclusive access to a project's tiles. Two concurrent writers would both
// extend the last tile of a series.
func LockTiles(ctx context.Context, tx pgx.Tx, project int64) error {
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('pawl.tile', $1))`, project); err != nil {
		return fmt.Errorf("cannot lock the tiles of project %d: %w", project, err)
	}
	return nil
}

// compactBatch moves the first points in series order, starting at series from. next is the
// series to continue with: the one it ended in, which may have more points.
func (s *Store) compactBatch(ctx context.Context, project, from int64, o CompactOptions) (next int64, done Compacted, err error) {
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		if err := LockTiles(ctx, tx, project); err != nil {
			return err
		}
		failpoint.At("compact.before-take")
		taken, err := takePoints(ctx, tx, project, from, o)
		if err != nil {
			return err
		}
		failpoint.At("compact.after-take")
		for _, t := range taken {
			done.Points += len(t.points)
			next = max(next, t.series)
		}
		written, again, err := storePoints(ctx, tx, project, taken)
		done.Tiles, done.Again = written, again
		failpoint.At("compact.before-commit")
		return err
	})
	failpoint.At("compact.after-commit")
	return next, done, err
}

// seriesPoints holds sorted points of one series.
type seriesPoints struct {
	series int64
	points []pointcodec.Point
}

// takePoints deletes the first hot points in series order and returns them.
func takePoints(ctx context.Context, tx pgx.Tx, project, from int64, o CompactOptions) ([]seriesPoints, error) {
	// Use the rows that the delete returned: a row that arrived later stays hot.
	rows, err := tx.Query(ctx, `with first as (
			select series_id, at, report_id from pawl.point where project_id = $1 and series_id >= $2 and at < $3
			order by series_id, at, report_id limit $4)
		delete from pawl.point p using first f
		where p.project_id = $1 and p.series_id = f.series_id and p.at = f.at and p.report_id = f.report_id and p.at < $3
		returning p.series_id, p.at, p.report_id, p.value, p.low, p.high, p.spread, p.baseline, p.rounds, p.flags`, project, from, o.Before, o.Batch)
	if err != nil {
		return nil, err
	}
	by := map[int64][]pointcodec.Point{}
	if err := eachPoint(rows, func(series int64, p pointcodec.Point) { by[series] = append(by[series], p) }); err != nil {
		return nil, err
	}
	return bySeries(by), nil
}

// bySeries sorts series by id and their points by time.
func bySeries(by map[int64][]pointcodec.Point) []seriesPoints {
	list := make([]seriesPoints, 0, len(by))
	for series, points := range by {
		slices.SortFunc(points, pointcodec.Compare)
		list = append(list, seriesPoints{series, points})
	}
	slices.SortFunc(list, func(a, b seriesPoints) int { return cmp.Compare(a.series, b.series) })
	return list
}
