package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// NewestPoints returns the newest points of many series in one round trip, without commits. series must
// not contain duplicates.
func (s *Store) NewestPoints(ctx context.Context, project int64, series []int64, last int) (map[int64][]client.StoredPoint, error) {
	type ends struct{ cold, hot []pointcodec.Point }
	found := make([]ends, len(series))
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		for i, id := range series {
			q := rangeQuery{project: project, series: id, last: last}
			q.queueHot(b, &found[i].hot)
			q.queueTiles(b, &found[i].cold)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the last points of %d series of project %d: %w", len(series), project, err)
	}
	tails := make(map[int64][]client.StoredPoint, len(series))
	for i, id := range series {
		points := pointcodec.Merge(found[i].cold, found[i].hot)
		for _, p := range points[max(0, len(points)-last):] {
			tails[id] = append(tails[id], keptOf(p))
		}
	}
	return tails, nil
}

// Revisions returns what reports stated about commits. Unknown commits are omitted. A commit whose
// time was reported by the default branch never changes, so it is cached: the series of a suite
// share their commits.
func (s *Store) Revisions(ctx context.Context, project int64, shas []string) (map[string]client.Commit, error) {
	known := make(map[string]client.Commit, len(shas))
	s.known.settled.get(len(shas), func(i int) commitKey { return commitKey{project, shas[i]} },
		func(i int, c client.Commit) { known[shas[i]] = c })
	var unknown []string
	for _, sha := range shas {
		if _, ok := known[sha]; !ok {
			unknown = append(unknown, sha)
		}
	}
	if len(unknown) == 0 {
		return known, nil
	}
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(`select sha, parent, at, author, title, lane from pawl.revision where project_id = $1 and sha = any($2)`, project, unknown).Query(func(rows pgx.Rows) error {
			var c client.Commit
			var at *time.Time
			var lane int16
			_, err := pgx.ForEachRow(rows, []any{&c.SHA, &c.Parent, &at, &c.Author, &c.Title, &lane}, func() error {
				c.At = at
				known[c.SHA] = c
				if lane == 0 && at != nil {
					s.known.settled.add(commitKey{project, c.SHA}, c)
				}
				return nil
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read %d commits of project %d: %w", len(unknown), project, err)
	}
	return known, nil
}
