package pointstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// MaxPoints is the maximum number of points returned for a series; the newest are kept. For the
// outline of longer histories use buckets, which are computed from at most MaxThinned points.
const (
	MaxPoints  = 100_000
	MaxThinned = 1_000_000
)

// Range selects points of a series.
type Range struct {
	From, To time.Time // both inclusive; zero means unbounded
	Last     int       // only the newest points; 0 means the maximum
	Buckets  int       // thin out to the outline of this many buckets; 0 means no thinning
}

// Points returns points of one series, hot or in tiles, in commit order. A series that does not
// exist has none.
func (s *Store) Points(ctx context.Context, project, series int64, r Range) ([]client.StoredPoint, error) {
	points, err := s.pointsIn(ctx, project, series, r)
	if err != nil {
		return nil, err
	}
	all := len(points)
	if r.Buckets > 0 {
		points = pointcodec.Downsample(points, r.Buckets, pointcodec.Point.Extent)
	}
	kept := make([]client.StoredPoint, len(points))
	for i, p := range points {
		kept[i] = Stored(p)
	}
	return kept, s.nameCommits(ctx, project, series, kept, len(points) == all)
}

// pointsIn reads hot points and tiles in one round trip. Hot points are read first: a point that is
// compacted between the two reads is then seen twice instead of never.
func (s *Store) pointsIn(ctx context.Context, project, series int64, r Range) ([]pointcodec.Point, error) {
	most := MaxPoints
	if r.Buckets > 0 {
		most = MaxThinned
	}
	last := min(cmp.Or(r.Last, most), most)
	q := rangeQuery{project: project, series: series, from: r.From, to: cmp.Or(r.To, Future), last: last}
	var cold, hot []pointcodec.Point
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		q.queueHot(b, &hot)
		q.queueTiles(b, &cold)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the points of series %d of project %d: %w", series, project, err)
	}
	points := q.cut(pointcodec.Merge(cold, hot))
	return points[max(0, len(points)-last):], nil
}

// NewestPoints returns the newest points of many series in one round trip, without commits. series must
// not contain duplicates. It reads hot points first, like pointsIn.
func (s *Store) NewestPoints(ctx context.Context, project int64, series []int64, last int) (map[int64][]client.StoredPoint, error) {
	const hotSQL = `select ` + pointColumns + ` from unnest($2::bigint[]) as wanted (id) cross join lateral (
		select ` + pointColumns + ` from pawl.point where project_id = $1 and series_id = wanted.id order by at desc, report_id desc limit $3) p
		order by series_id, at, report_id`
	const tileSQL = `select ` + tileColumns + ` from unnest($2::bigint[]) as wanted (id) cross join lateral (
		select *, sum(n) over (order by first_at desc, first_report desc) - n as newer from pawl.tile
		where project_id = $1 and series_id = wanted.id order by first_at desc, first_report desc limit $3) t
		where newer < $3 order by series_id, first_at, first_report`
	cold, hot := map[int64][]pointcodec.Point{}, map[int64][]pointcodec.Point{}
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(hotSQL, project, series, last).Query(func(rows pgx.Rows) error {
			return eachPoint(rows, func(id int64, p pointcodec.Point) { hot[id] = append(hot[id], p) })
		})
		b.Queue(tileSQL, project, series, last).Query(func(rows pgx.Rows) error {
			return eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
				cold[r.Series] = append(cold[r.Series], points...)
				return nil
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the last points of %d series of project %d: %w", len(series), project, err)
	}
	tails := make(map[int64][]client.StoredPoint, len(series))
	for _, id := range series {
		points := pointcodec.Merge(cold[id], hot[id])
		for _, p := range points[max(0, len(points)-last):] {
			tails[id] = append(tails[id], Stored(p))
		}
	}
	return tails, nil
}

// OfReport returns the points of one report by series. All of them have the same time, that of its commit.
func OfReport(ctx context.Context, q pg.Querier, project, report int64, series []int64, at time.Time) (map[int64]pointcodec.Point, error) {
	points := make(map[int64]pointcodec.Point, len(series))
	rows, err := q.Query(ctx, `select `+pointColumns+` from pawl.point where project_id = $1 and series_id = any($2) and at = $3 and report_id = $4`, project, series, at, report)
	if err == nil {
		err = eachPoint(rows, func(series int64, p pointcodec.Point) { points[series] = p })
	}
	if err != nil || len(points) == len(series) {
		return points, err
	}
	rows, err = q.Query(ctx, `select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = any($2) and first_at <= $3 and last_at >= $3`, project, series, at)
	if err != nil {
		return nil, err
	}
	return points, eachTile(rows, func(r tileRecord, list []pointcodec.Point) error {
		if i, ok := slices.BinarySearchFunc(list, pointcodec.Point{At: at.UnixMicro(), Report: report}, pointcodec.Compare); ok {
			points[r.Series] = list[i]
		}
		return nil
	})
}

// Between calls do with the points of series between two times, both inclusive, hot ones first. A point
// that is compacted meanwhile may come twice, and others of the same tile too.
func Between(ctx context.Context, q pg.Querier, project int64, series []int64, from, to time.Time, do func(series int64, p pointcodec.Point)) error {
	rows, err := q.Query(ctx, `select `+pointColumns+` from pawl.point where project_id = $1 and series_id = any($2) and at >= $3 and at <= $4`, project, series, from, to)
	if err == nil {
		err = eachPoint(rows, do)
	}
	if err == nil {
		rows, err = q.Query(ctx, `select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = any($2) and first_at <= $4 and last_at >= $3`, project, series, from, to)
	}
	if err != nil {
		return err
	}
	return eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
		for _, p := range points {
			do(r.Series, p)
		}
		return nil
	})
}

// Stored converts a point to the API's type.
func Stored(p pointcodec.Point) client.StoredPoint {
	return client.StoredPoint{
		At: p.Time(), Report: p.Report, Value: p.Value, Low: p.Low, High: p.High, Spread: p.Spread, Rounds: int(p.Rounds),
		Baseline: p.Baseline, Moved: p.Flags.Moved(), Trust: p.Flags.Trust(), Verdict: string(p.Flags.Verdict()),
	}
}

// rangeQuery reads a range of points of a series. It reads whole tiles, which are cut afterwards.
type rangeQuery struct {
	project, series int64
	from, to        time.Time
	last            int
}

func (q rangeQuery) cut(points []pointcodec.Point) []pointcodec.Point {
	order := func(p pointcodec.Point, at int64) int { return cmp.Compare(p.At, at) }
	from, _ := slices.BinarySearchFunc(points, q.from.UnixMicro(), order)
	to, _ := slices.BinarySearchFunc(points, q.to.UnixMicro()+1, order)
	return points[from:max(from, to)]
}

// queueTiles queries tiles, newest first, until they hold enough points. Each tile holds at least
// one point, so the inner limit is never too small.
func (q rangeQuery) queueTiles(b *pgx.Batch, into *[]pointcodec.Point) {
	const sql = `select ` + tileColumns + ` from (
		select *, sum(n) over (order by first_at desc, first_report desc) - n as newer from pawl.tile
		where project_id = $1 and series_id = $2 and first_at <= $4 and last_at >= $3
		order by first_at desc, first_report desc limit $5) t
		where newer < $5 order by first_at, first_report`
	b.Queue(sql, q.project, q.series, q.from, q.to, q.last).Query(func(rows pgx.Rows) error {
		return eachTile(rows, func(_ tileRecord, points []pointcodec.Point) error {
			*into = append(*into, points...)
			return nil
		})
	})
}

func (q rangeQuery) queueHot(b *pgx.Batch, into *[]pointcodec.Point) {
	const sql = `select ` + pointColumns + ` from pawl.point
		where project_id = $1 and series_id = $2 and at >= $3 and at <= $4 order by at desc, report_id desc limit $5`
	b.Queue(sql, q.project, q.series, q.from, q.to, q.last).Query(func(rows pgx.Rows) error {
		err := eachPoint(rows, func(_ int64, p pointcodec.Point) { *into = append(*into, p) })
		slices.Reverse(*into)
		return err
	})
}

// Future stands for the end of an unbounded range: no commit has such a year. The zero time is before all.
var Future = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
