package pointstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// storePoints writes points into the tiles that cover them: the last tile that starts before
// them, or new tiles. Tiles of a series never overlap. The caller holds lockTiles.
func storePoints(ctx context.Context, tx pgx.Tx, project int64, batch []seriesPoints) (written, again int, err error) {
	if len(batch) == 0 {
		return 0, 0, nil
	}
	places, err := readPlaces(ctx, tx, project, batch)
	if err != nil {
		return 0, 0, err
	}
	var jobs []tileUpdate
	for _, b := range batch {
		jobs = append(jobs, assign(b, places[b.series])...)
	}
	old, err := takeTiles(ctx, tx, project, jobs)
	if err != nil {
		return 0, 0, err
	}
	var tiles []tileRecord
	for _, j := range jobs {
		points := j.points
		if j.into != nil {
			points = pointcodec.Merge(old[tileKey{j.series, j.into.At, j.into.Report}], points)
		}
		for _, part := range pointcodec.Split(points, j.open) {
			r, err := packTile(j.series, part)
			if err != nil {
				return 0, 0, err
			}
			tiles = append(tiles, r)
		}
	}
	return len(tiles), len(old), insertTiles(ctx, tx, project, tiles)
}

// tileUpdate is a set of points to add to one tile, or to a series without tiles.
type tileUpdate struct {
	series int64
	into   *pointcodec.Point // position of the tile; nil if the series has none yet
	open   bool              // it is the last tile, so it may be filled completely
	points []pointcodec.Point
}

// assign distributes the points of a series over its tiles. Points before the first tile go
// into it. Of a place only time and report are set: those of the first point of its tile.
func assign(b seriesPoints, places []pointcodec.Point) []tileUpdate {
	if len(places) == 0 {
		return []tileUpdate{{series: b.series, open: true, points: b.points}}
	}
	var list []tileUpdate
	for rest := b.points; len(rest) > 0; {
		i, found := slices.BinarySearchFunc(places, rest[0], pointcodec.Compare)
		if !found {
			i = max(0, i-1)
		}
		n := len(rest)
		if i+1 < len(places) {
			n, _ = slices.BinarySearchFunc(rest, places[i+1], pointcodec.Compare)
		}
		list = append(list, tileUpdate{series: b.series, into: &places[i], open: i+1 == len(places), points: rest[:n]})
		rest = rest[n:]
	}
	return list
}

// readPlaces returns the tiles of each series, starting with the tile of its first point.
func readPlaces(ctx context.Context, tx pgx.Tx, project int64, batch []seriesPoints) (map[int64][]pointcodec.Point, error) {
	var ids, reports []int64
	var ats []time.Time
	for _, b := range batch {
		ids, ats, reports = append(ids, b.series), append(ats, b.points[0].Time()), append(reports, b.points[0].Report)
	}
	rows, err := tx.Query(ctx, `select s.id, t.first_at, t.first_report
		from unnest($2::bigint[], $3::timestamptz[], $4::bigint[]) as s (id, at, report)
		left join lateral (select first_at, first_report from pawl.tile
			where project_id = $1 and series_id = s.id and (first_at, first_report) <= (s.at, s.report)
			order by first_at desc, first_report desc limit 1) f on true
		join pawl.tile t on t.project_id = $1 and t.series_id = s.id
			and (t.first_at, t.first_report) >= (coalesce(f.first_at, '-infinity'), coalesce(f.first_report, 0))
		order by s.id, t.first_at, t.first_report`, project, ids, ats, reports)
	if err != nil {
		return nil, err
	}
	places := map[int64][]pointcodec.Point{}
	var series, report int64
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&series, &at, &report}, func() error {
		places[series] = append(places[series], pointcodec.Point{At: at.UnixMicro(), Report: report})
		return nil
	})
	return places, err
}

type tileKey struct{ series, at, report int64 }

// takeTiles deletes the tiles to be rewritten and returns their points.
func takeTiles(ctx context.Context, tx pgx.Tx, project int64, jobs []tileUpdate) (map[tileKey][]pointcodec.Point, error) {
	var ids, reports []int64
	var ats []time.Time
	for _, j := range jobs {
		if j.into != nil {
			ids, ats, reports = append(ids, j.series), append(ats, j.into.Time()), append(reports, j.into.Report)
		}
	}
	old := map[tileKey][]pointcodec.Point{}
	if len(ids) == 0 {
		return old, nil
	}
	rows, err := tx.Query(ctx, `delete from pawl.tile t using unnest($2::bigint[], $3::timestamptz[], $4::bigint[]) as k (id, at, report)
		where t.project_id = $1 and t.series_id = k.id and t.first_at = k.at and t.first_report = k.report
		returning t.series_id, t.first_at, t.first_report, t.last_at, t.n, t.version, t.crc, t.data`, project, ids, ats, reports)
	if err != nil {
		return nil, err
	}
	err = eachTile(rows, func(r tileRecord, points []pointcodec.Point) error {
		old[tileKey{r.Series, r.FirstAt.UnixMicro(), r.FirstReport}] = points
		return nil
	})
	if err == nil && len(old) != len(ids) {
		err = fmt.Errorf("expected %d tiles to rewrite, got %d", len(ids), len(old))
	}
	return old, err
}

// insertTiles inserts tiles with one statement.
func insertTiles(ctx context.Context, tx pgx.Tx, project int64, tiles []tileRecord) error {
	n := len(tiles)
	if n == 0 {
		return nil
	}
	ids, reports, sums := make([]int64, n), make([]int64, n), make([]int64, n)
	firsts, lasts := make([]time.Time, n), make([]time.Time, n)
	counts, data := make([]int16, n), make([][]byte, n)
	for i, t := range tiles {
		ids[i], reports[i], sums[i], firsts[i], lasts[i], counts[i], data[i] = t.Series, t.FirstReport, t.CRC, t.FirstAt, t.LastAt, t.N, t.Data
	}
	_, err := tx.Exec(ctx, `insert into pawl.tile (project_id, series_id, first_at, first_report, last_at, n, version, crc, data)
		select $1, id, first_at, first_report, last_at, n, $8, crc, data
		from unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::timestamptz[], $6::smallint[], $7::bigint[], $9::bytea[])
		as t (id, first_at, first_report, last_at, n, crc, data)`, project, ids, firsts, reports, lasts, counts, sums, int16(pointcodec.Version), data)
	return err
}
