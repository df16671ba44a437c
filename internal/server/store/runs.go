package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// RunQuery filters a list of runs. Empty fields do not filter.
type RunQuery struct {
	Suite   string
	Testbed int64
	Lane    client.Lane
	Commit  string
	Before  int64 // the last id of the previous page
	Limit   int   // 0 means [pg.MaxListed]
}

const runColumns = `id, run, suite, measured, received, at, sha, branch, pull, lane, trust, pawl, testbed_id, health, verdict, sentence, points, sender`

// Runs lists runs without their blobs, most recently received first.
func (s *Store) Runs(ctx context.Context, project int64, q RunQuery) ([]client.Run, error) {
	where := pg.Conditions{Args: []any{project}}
	pg.Where(&where, "id < $%d", q.Before)
	pg.Where(&where, "suite = $%d", q.Suite)
	pg.Where(&where, "testbed_id = $%d", q.Testbed)
	pg.Where(&where, "sha = $%d", q.Commit)
	if err := whereLane(&where, "lane = $%d", q.Lane); err != nil {
		return nil, err
	}
	list, err := pg.List(ctx, s.db, project, scanRun, `select `+runColumns+` from pawl.report where project_id = $1`+where.String()+` order by id desc limit `+pg.Limit(q.Limit), where.Args...)
	return list, pg.Wrap(err, "cannot list the runs of project %d", project)
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
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		pg.Queue(b, scanRun, &runs, `select `+runColumns+` from pawl.report where project_id = $1 and `+which+` order by id desc limit 1`, project, value)
		pg.Queue(b, scanBlob, &blobs, `select rb.digest, coalesce(b.size, 0), rb.kind, rb.name
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

// MeasuredCommits returns the first commits with runs whose hash starts with a prefix; two if there are several.
func (s *Store) MeasuredCommits(ctx context.Context, project int64, prefix string) ([]string, error) {
	list, err := pg.List(ctx, s.db, project, pgx.RowTo[string], `select distinct sha from pawl.report
		where project_id = $1 and sha >= $2 and sha < $2 || 'g' order by sha limit 2`, project, prefix)
	return list, pg.Wrap(err, "cannot list the commits of project %d", project)
}

// RunSeries returns the points of one run with their series, sorted by name.
func (s *Store) RunSeries(ctx context.Context, project, id int64) ([]client.RunPoint, error) {
	run, err := s.Run(ctx, project, id)
	if err != nil {
		return nil, err
	}
	var found map[int64]pointcodec.Point
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		var packed []byte
		if err := tx.QueryRow(ctx, `select series from pawl.report where project_id = $1 and id = $2`, project, id).Scan(&packed); err != nil {
			return pg.Found(err)
		}
		ids, err := pointcodec.UnpackIDs(packed)
		if err != nil {
			return err
		}
		found, err = pointstore.OfReport(ctx, tx, project, id, ids, run.At)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the points of run %d of project %d: %w", id, project, err)
	}
	series, err := s.SeriesByIDs(ctx, project, slices.Collect(maps.Keys(found)))
	if err != nil {
		return nil, err
	}
	list := make([]client.RunPoint, len(series))
	for i, one := range series {
		list[i] = client.RunPoint{Series: one, Point: pointstore.Stored(found[one.ID])}
		list[i].Point.Commit = run.Commit
	}
	slices.SortStableFunc(list, func(a, b client.RunPoint) int { return strings.Compare(a.Series.String(), b.Series.String()) })
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
