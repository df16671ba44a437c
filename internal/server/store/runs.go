package store

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// RunQuery filters a list of runs. Empty fields do not filter.
type RunQuery struct {
	Suite   string
	Testbed int64
	Lane    client.Lane
	Commit  string
	Before  int64 // the last id of the previous page
	Limit   int   // 0 means MaxListed
}

const runColumns = `id, run, suite, measured, received, at, sha, branch, pull, lane, trust, pawl, testbed_id, health, verdict, sentence, points, sender`

// Runs lists runs without their blobs, most recently received first.
func (s *Store) Runs(ctx context.Context, project int64, q RunQuery) ([]client.Run, error) {
	where := conditions{args: []any{project}}
	if q.Before > 0 {
		where.add("id < $%d", q.Before)
	}
	if q.Suite != "" {
		where.add("suite = $%d", q.Suite)
	}
	if q.Testbed != 0 {
		where.add("testbed_id = $%d", q.Testbed)
	}
	if q.Commit != "" {
		where.add("sha = $%d", q.Commit)
	}
	if q.Lane != "" {
		n, err := laneNumber(q.Lane)
		if err != nil {
			return nil, err
		}
		where.add("lane = $%d", n)
	}
	list, err := listOf(ctx, s, project, scanRun, `select `+runColumns+` from pawl.report where project_id = $1`+where.String()+` order by id desc limit `+limit(q.Limit), where.args...)
	if err != nil {
		return nil, fmt.Errorf("cannot list the runs of project %d: %w", project, err)
	}
	return list, nil
}

// Run returns one run with its blobs, or ErrNotFound.
func (s *Store) Run(ctx context.Context, project, id int64) (client.Run, error) {
	return s.run(ctx, project, "id = $2", id)
}

// RunByName returns the run with a ULID, or ErrNotFound.
func (s *Store) RunByName(ctx context.Context, project int64, run string) (client.Run, error) {
	return s.run(ctx, project, "run = $2", run)
}

func (s *Store) run(ctx context.Context, project int64, which string, value any) (client.Run, error) {
	var runs []client.Run
	var blobs []client.Blob
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		queueList(b, scanRun, &runs, `select `+runColumns+` from pawl.report where project_id = $1 and `+which+` order by id desc limit 1`, project, value)
		queueList(b, scanBlob, &blobs, `select rb.digest, coalesce(b.size, 0), rb.kind, rb.name
			from pawl.report_blob rb left join pawl.blob b on b.project_id = rb.project_id and b.digest = rb.digest
			where rb.project_id = $1 and rb.report_id = (select id from pawl.report where project_id = $1 and `+which+` order by id desc limit 1)
			order by rb.ordinal`, project, value)
	})
	if err != nil {
		return client.Run{}, fmt.Errorf("cannot read run %v of project %d: %w", value, project, err)
	}
	if len(runs) == 0 {
		return client.Run{}, fmt.Errorf("run %v of project %d: %w", value, project, ErrNotFound)
	}
	runs[0].Blobs = blobs
	return runs[0], nil
}

// RunPoint is the point of one run in one series.
type RunPoint struct {
	Series client.Series      `json:"series"`
	Point  client.StoredPoint `json:"point"`
}

// RunSeries returns the points of one run with their series, sorted by name.
func (s *Store) RunSeries(ctx context.Context, project, id int64) ([]RunPoint, error) {
	run, err := s.Run(ctx, project, id)
	if err != nil {
		return nil, err
	}
	var ids []int64
	points := map[int64]pointcodec.Point{}
	err = s.inProject(ctx, project, func(tx pgx.Tx) error {
		var packed []byte
		if err := tx.QueryRow(ctx, `select series from pawl.report where project_id = $1 and id = $2`, project, id).Scan(&packed); err != nil {
			return found(err)
		}
		if ids, err = unpackIDs(packed); err != nil {
			return err
		}
		// All points of a run have the same time: that of its commit.
		rows, err := tx.Query(ctx, `select `+pointColumns+` from pawl.point where project_id = $1 and series_id = any($2) and at = $3 and report_id = $4`, project, ids, run.At, id)
		if err == nil {
			err = eachPoint(rows, func(series int64, p pointcodec.Point) { points[series] = p })
		}
		if err != nil || len(points) == len(ids) {
			return err
		}
		rows, err = tx.Query(ctx, `select `+tileColumns+` from pawl.tile where project_id = $1 and series_id = any($2) and first_at <= $3 and last_at >= $3`, project, ids, run.At)
		if err != nil {
			return err
		}
		return eachTile(rows, func(r tileRecord, list []pointcodec.Point) error {
			if i, ok := slices.BinarySearchFunc(list, pointcodec.Point{At: run.At.UnixMicro(), Report: id}, pointcodec.Compare); ok {
				points[r.Series] = list[i]
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the points of run %d of project %d: %w", id, project, err)
	}
	return s.withSeries(ctx, project, run.Commit, points)
}

func (s *Store) withSeries(ctx context.Context, project int64, commit string, points map[int64]pointcodec.Point) ([]RunPoint, error) {
	ids := make([]int64, 0, len(points))
	for id := range points {
		ids = append(ids, id)
	}
	series, err := s.seriesByIDs(ctx, project, ids)
	if err != nil {
		return nil, err
	}
	list := make([]RunPoint, len(series))
	for i, one := range series {
		list[i] = RunPoint{Series: one, Point: keptOf(points[one.ID])}
		list[i].Point.Commit = commit
	}
	slices.SortStableFunc(list, func(a, b RunPoint) int { return strings.Compare(a.Series.String(), b.Series.String()) })
	return list, nil
}

func scanRun(row pgx.CollectableRow) (client.Run, error) {
	var r client.Run
	var lane, trust int16
	err := row.Scan(&r.ID, &r.Run, &r.Suite, &r.Measured, &r.Received, &r.At, &r.Commit, &r.Branch, &r.Pull, &lane, &trust, &r.Pawl,
		&r.Testbed, &r.Health, &r.Verdict, &r.Sentence, &r.Points, &r.Sender)
	r.Lane, r.Trust = laneName(lane), pointcodec.Flags(trust).Trust()
	r.Measured, r.Received, r.At = r.Measured.UTC(), r.Received.UTC(), r.At.UTC()
	return r, err
}

func scanBlob(row pgx.CollectableRow) (client.Blob, error) {
	var b client.Blob
	var digest []byte
	err := row.Scan(&digest, &b.Size, &b.Kind, &b.Name)
	b.Digest = hex.EncodeToString(digest)
	return b, err
}

// unpackIDs decodes the series of a report: ascending ids, each stored as the difference from the
// previous one.
func unpackIDs(packed []byte) ([]int64, error) {
	var ids []int64
	last := int64(0)
	for len(packed) > 0 {
		d, n := binary.Uvarint(packed)
		if n <= 0 || d > 1<<62 || len(ids) >= client.MaxPoints {
			return nil, fmt.Errorf("the list of its series is damaged after %d entries", len(ids))
		}
		packed, last = packed[n:], last+int64(d)
		ids = append(ids, last)
	}
	return ids, nil
}
