package pointstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// nameCommits sets the commits of points of one series. With sideBySide, it reads many unknown
// commits as neighbors in the index.
func (s *Store) nameCommits(ctx context.Context, project, series int64, points []client.StoredPoint, sideBySide bool) error {
	reports := make([]int64, len(points))
	for i := range points {
		reports[i] = points[i].Report
	}
	commits := make(map[int64]string, len(reports))
	unknown := s.rememberCommits(project, reports, commits)
	if sideBySide && len(unknown) >= manyCommits {
		if err := s.readNeighbours(ctx, project, series, unknown, commits); err != nil {
			return err
		}
		unknown = slices.DeleteFunc(unknown, func(id int64) bool { _, ok := commits[id]; return ok })
	}
	if err := s.readCommits(ctx, project, unknown, commits); err != nil {
		return err
	}
	for i := range points {
		points[i].Commit = commits[points[i].Report]
	}
	return nil
}

// rememberCommits fills in cached commits and returns the reports that are not cached. Caching is
// safe because a report never changes its commit, and useful because the series of a suite share
// their reports.
func (s *Store) rememberCommits(project int64, reports []int64, into map[int64]string) (unknown []int64) {
	s.reports.Get(len(reports), func(i int) reportKey { return reportKey{project, reports[i]} },
		func(i int, sha string) { into[reports[i]] = sha })
	for _, id := range reports {
		if _, ok := into[id]; !ok {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

const (
	// manyCommits is the number of reports from which neighbors are read together. Fewer are
	// found faster one by one.
	manyCommits = 50
	// maxNeighbors limits one such read, so that it does not evict the rest of the cache.
	maxNeighbors = 20_000
)

// readNeighbours reads the reports of the series' suite in arrival order. An index stores these
// next to each other with their commits: a thousand of them take a dozen pages instead of a
// thousand. A rarely measured series has many other reports between its own. It is then read only
// in part, and readCommits reads the rest.
func (s *Store) readNeighbours(ctx context.Context, project, series int64, wanted []int64, into map[int64]string) error {
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		const sql = `select id, sha from pawl.report
			where project_id = $1 and suite = (select suite from pawl.series where project_id = $1 and id = $2) and id between $3 and $4
			order by id desc limit $5`
		b.Queue(sql, project, series, slices.Min(wanted), slices.Max(wanted), min(3*len(wanted), maxNeighbors)).Query(s.keepCommits(project, into))
	})
	return pg.Wrap(err, "cannot read the commits of series %d of project %d", series, project)
}

func (s *Store) readCommits(ctx context.Context, project int64, wanted []int64, into map[int64]string) error {
	if len(wanted) == 0 {
		return nil
	}
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(`select id, sha from pawl.report where project_id = $1 and id = any($2)`, project, wanted).Query(s.keepCommits(project, into))
	})
	return pg.Wrap(err, "cannot read the commits of %d reports of project %d", len(wanted), project)
}

// keepCommits returns a function that reads rows of id and commit, and caches them.
func (s *Store) keepCommits(project int64, into map[int64]string) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id int64
		var sha string
		_, err := pgx.ForEachRow(rows, []any{&id, &sha}, func() error {
			into[id] = sha
			s.reports.Add(reportKey{project, id}, sha)
			return nil
		})
		return err
	}
}
