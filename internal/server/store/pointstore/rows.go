package pointstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// pointColumns and tileColumns are the columns that eachPoint and eachTile read.
const (
	pointColumns = `series_id, at, report_id, value, low, high, spread, baseline, rounds, flags`
	tileColumns  = `series_id, first_at, first_report, last_at, n, version, crc, data`
)

// eachPoint calls do for every hot row. A page of a long history has ten thousand rows, so it
// decodes the columns from the wire format; Scan takes ten times as long.
func eachPoint(rows pgx.Rows, do func(series int64, p pointcodec.Point)) error {
	defer rows.Close()
	sizes := [...]int{8, 8, 8, 4, 4, 4, 4, 4, 4, 2} // of pointColumns
	for rows.Next() {
		v := rows.RawValues()
		for i, size := range sizes {
			if len(v) != len(sizes) || len(v[i]) != size {
				return fmt.Errorf("a point has columns of other sizes than %v", sizes)
			}
		}
		number := func(i int) float32 { return math.Float32frombits(binary.BigEndian.Uint32(v[i])) }
		do(int64(binary.BigEndian.Uint64(v[0])), pointcodec.Point{
			At: int64(binary.BigEndian.Uint64(v[1])) + epoch, Report: int64(binary.BigEndian.Uint64(v[2])),
			Value: number(3), Low: number(4), High: number(5), Spread: number(6), Baseline: number(7),
			Rounds: int32(binary.BigEndian.Uint32(v[8])), Flags: pointcodec.Flags(binary.BigEndian.Uint16(v[9])),
		})
	}
	return rows.Err()
}

// epoch is the start of PostgreSQL's time scale, in Unix microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// tileRecord is the row of a tile.
type tileRecord struct {
	Series      int64
	FirstAt     time.Time
	FirstReport int64
	LastAt      time.Time
	N, Version  int16
	CRC         int64
	Data        []byte
}

// eachTile calls do for every tile with its points. A damaged tile is an error and never yields
// fewer points.
func eachTile(rows pgx.Rows, do func(r tileRecord, points []pointcodec.Point) error) error {
	return eachTileRecord(rows, func(r tileRecord) error {
		points, err := r.open()
		if err != nil {
			return err
		}
		return do(r, points)
	})
}

// eachTileRecord is eachTile without opening the tiles. Data is valid only during the call.
func eachTileRecord(rows pgx.Rows, do func(r tileRecord) error) error {
	defer rows.Close()
	for rows.Next() {
		var r tileRecord
		if err := rows.Scan(&r.Series, &r.FirstAt, &r.FirstReport, &r.LastAt, &r.N, &r.Version, &r.CRC, (*pgtype.DriverBytes)(&r.Data)); err != nil {
			return err
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// open checks a tile against its row and unpacks it.
func (r tileRecord) open() ([]pointcodec.Point, error) {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("the tile of series %d from %s: "+format+"; %w", append(append([]any{r.Series, r.FirstAt.UTC().Format(time.RFC3339)}, args...), ErrDamaged)...)
	}
	if sum := pointcodec.Sum(r.Data); int64(sum) != r.CRC {
		return nil, fail("its checksum is %08x but should be %08x", sum, r.CRC)
	}
	points, err := pointcodec.Decode(r.Data)
	if err != nil {
		return nil, fail("%v", err)
	}
	first, last := points[0], points[len(points)-1]
	if len(points) != int(r.N) || first.At != r.FirstAt.UnixMicro() || first.Report != r.FirstReport || last.At != r.LastAt.UnixMicro() {
		return nil, fail("it contains %d points from %d to %d, but its row says %d from %d to %d",
			len(points), first.At, last.At, r.N, r.FirstAt.UnixMicro(), r.LastAt.UnixMicro())
	}
	return points, nil
}

// packTile packs points into the row of a tile.
func packTile(series int64, points []pointcodec.Point) (tileRecord, error) {
	data, err := pointcodec.Encode(points)
	if err != nil {
		return tileRecord{}, fmt.Errorf("cannot pack %d points of series %d: %w", len(points), series, err)
	}
	first, last := points[0], points[len(points)-1]
	return tileRecord{
		Series: series, FirstAt: first.Time(), FirstReport: first.Report, LastAt: last.Time(),
		N: int16(len(points)), Version: pointcodec.Version, CRC: int64(pointcodec.Sum(data)), Data: data,
	}, nil
}
