package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
)

// Commits are those of reports. A report that is not there has none.
func (s *Store) Commits(ctx context.Context, project int64, reports []int64) (map[int64]string, error) {
	commits := make(map[int64]string, len(reports))
	unknown := s.rememberCommits(project, reports, commits)
	err := s.readCommits(ctx, project, unknown, commits)
	return commits, err
}

// nameCommits says which commits points of one series are of. Those that are side by side
// are read so.
func (s *Store) nameCommits(ctx context.Context, project, series int64, points []client.Kept, sideBySide bool) error {
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

// rememberCommits fills in the commits that were asked for before, and gives the reports
// it does not know: a report never changes its commit, and the series of a suite share
// their reports.
func (s *Store) rememberCommits(project int64, reports []int64, into map[int64]string) (unknown []int64) {
	s.known.reports.get(len(reports), func(i int) reportKey { return reportKey{project, reports[i]} },
		func(i int, sha string) { into[reports[i]] = sha })
	for _, id := range reports {
		if _, ok := into[id]; !ok {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

const (
	// manyCommits is from how many on the reports of a series are read as neighbours: fewer
	// are found sooner one by one.
	manyCommits = 50
	// mostNeighbours are read at once, so that they do not push out what is remembered.
	mostNeighbours = 20_000
)

// readNeighbours reads the reports of the series' suite in the order they came in, which
// an index holds side by side with their commits: a thousand of them are a dozen pages,
// where one by one they would be a thousand. A series that is seldom measured has many
// strangers between its reports: they are read in part, and what is left is for readCommits.
func (s *Store) readNeighbours(ctx context.Context, project, series int64, wanted []int64, into map[int64]string) error {
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		const sql = `select id, sha from pawl.report
			where project_id = $1 and suite = (select suite from pawl.series where project_id = $1 and id = $2) and id between $3 and $4
			order by id desc limit $5`
		b.Queue(sql, project, series, slices.Min(wanted), slices.Max(wanted), min(3*len(wanted), mostNeighbours)).Query(s.keepCommits(project, into))
	})
	if err != nil {
		return fmt.Errorf("reading the commits of series %d of project %d: %w", series, project, err)
	}
	return nil
}

func (s *Store) readCommits(ctx context.Context, project int64, wanted []int64, into map[int64]string) error {
	if len(wanted) == 0 {
		return nil
	}
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(`select id, sha from pawl.report where project_id = $1 and id = any($2)`, project, wanted).Query(s.keepCommits(project, into))
	})
	if err != nil {
		return fmt.Errorf("reading the commits of %d reports of project %d: %w", len(wanted), project, err)
	}
	return nil
}

// keepCommits takes rows of id and commit, and remembers them.
func (s *Store) keepCommits(project int64, into map[int64]string) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id int64
		var sha string
		_, err := pgx.ForEachRow(rows, []any{&id, &sha}, func() error {
			into[id] = sha
			s.known.reports.add(reportKey{project, id}, sha)
			return nil
		})
		return err
	}
}
