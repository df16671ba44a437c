package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// resolveBatch is the maximum number of reports moved per transaction.
const resolveBatch = 16

// Resolve moves points to the time of their commit once it is known, whether they are hot or in
// tiles. It marks their reports dirty, so that their series are scanned again in full. It returns
// the number of reports moved.
func (s *Store) Resolve(ctx context.Context, project int64) (reports int, err error) {
	for {
		ids, err := s.resolvable(ctx, project)
		if err != nil || len(ids) == 0 {
			return reports, err
		}
		moved := 0
		err = s.db.InProject(ctx, project, func(tx pgx.Tx) (err error) {
			moved, err = resolve(ctx, tx, project, ids, s.db.Now())
			return err
		})
		if err != nil {
			return reports, fmt.Errorf("cannot move points of project %d to their commits: %w", project, err)
		}
		failpoint.At("resolve.after-commit")
		if reports += moved; moved == 0 {
			return reports, nil // another server is doing it
		}
	}
}

// resolvable returns reports that can be moved now and creates the partitions they need. A commit
// time from a less trusted lane does not count.
func (s *Store) resolvable(ctx context.Context, project int64) ([]int64, error) {
	moves, err := pg.Pairs[int64, time.Time](ctx, s.db.Of(project), `
		select r.id, v.at from pawl.report r join pawl.revision v on v.project_id = $1 and v.sha = r.sha
		where r.project_id = $1 and not r.placed and v.at >= $4 and v.at < $2 and v.lane <= r.lane
		order by r.id limit $3`, project, s.db.Now().AddDate(0, 6, 0), resolveBatch, s.Oldest())
	if err != nil {
		return nil, fmt.Errorf("cannot look up resolved commits of project %d: %w", project, err)
	}
	for _, at := range moves {
		s.ForgetMonth(at)
		if err := s.MakeMonth(ctx, at); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(moves)), nil
}

// pendingMove is a report to move, with its old and new time.
type pendingMove struct {
	id       int64
	from, to time.Time
	packed   []byte
}

func resolve(ctx context.Context, tx pgx.Tx, project int64, ids []int64, now time.Time) (int, error) {
	if err := pointstore.LockTiles(ctx, tx, project); err != nil {
		return 0, err
	}
	list, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (m pendingMove, err error) {
		err = row.Scan(&m.id, &m.from, &m.to, &m.packed)
		return m, err
	}, `
		select r.id, r.at, v.at, r.series from pawl.report r join pawl.revision v on v.project_id = $1 and v.sha = r.sha
		where r.project_id = $1 and r.id = any($2) and not r.placed and v.at is not null order by r.id for update of r skip locked`, project, ids)
	if err != nil {
		return 0, err
	}
	for _, m := range list {
		if err := m.move(ctx, tx, project, now); err != nil {
			return 0, fmt.Errorf("report %d: %w", m.id, err)
		}
	}
	failpoint.At("resolve.moved")
	return len(list), nil
}

// move moves the report's points, and makes the next scan read their series in full.
func (m pendingMove) move(ctx context.Context, tx pgx.Tx, project int64, now time.Time) error {
	series, err := pointcodec.UnpackIDs(m.packed)
	if err != nil {
		return err
	}
	if err := pointstore.Move(ctx, tx, project, m.id, series, m.from, m.to); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`update pawl.report set at = $3, placed = true where project_id = $1 and id = $2`, project, m.id, m.to)
	b.Queue(markSQL, project, m.id, now)
	// The finder's stored state is valid only for points that are appended.
	b.Queue(`update pawl.trend_state set version = 0 where project_id = $1 and series_id = any($2)`, project, series)
	return tx.SendBatch(ctx, b).Close()
}
