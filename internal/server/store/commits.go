package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// reportedCommits holds the commits that a report describes, as columns sorted by sha.
type reportedCommits struct {
	shas, parents, authors, titles []string
	times                          []*time.Time
}

// unknownCommits returns the commits of a report that may be new to the database. It omits those whose
// time is already known from an equally trusted sender. Each report carries 256 parents, of
// which usually none is new.
func (s *Store) unknownCommits(r *row) reportedCommits {
	all := append([]client.Commit{r.report.Commit}, r.report.History...)
	known := make([]bool, len(all))
	s.known.commits.Get(len(all), func(n int) commitKey { return commitKey{r.project, all[n].SHA} },
		func(n int, lane int16) { known[n] = lane <= r.lane })
	var list []client.Commit
	for n, c := range all {
		if !known[n] {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b client.Commit) int { return cmp.Compare(a.SHA, b.SHA) })
	list = slices.CompactFunc(list, func(a, b client.Commit) bool { return a.SHA == b.SHA })
	var t reportedCommits
	for _, c := range list {
		t.shas, t.parents, t.times = append(t.shas, c.SHA), append(t.parents, c.Parent), append(t.times, c.At)
		t.authors, t.titles = append(t.authors, c.Author), append(t.titles, c.Title)
	}
	return t
}

// insertCommits is the part of writeReportSQL that records commits. It writes a row if the commit is
// new, if its time becomes known, or if this sender is more trusted than the previous one. Rows
// are found by the index alone, however old the plan is. A report with the same commit waits for
// the end of the transaction. All reports write commits in the same order.
const insertCommits = `
  insert into pawl.revision as r (project_id, lane, sha, parent, at, author, title)
  select $1, $13, unnest($34::text[]), unnest($35::text[]), unnest($36::timestamptz[]), unnest($37::text[]), unnest($38::text[]) from receipt
  on conflict (project_id, sha) do update set at = excluded.at, lane = excluded.lane,
    parent = case when excluded.parent <> '' and (r.parent = '' or r.lane > excluded.lane) then excluded.parent else r.parent end,
    author = case when excluded.author <> '' and (r.author = '' or r.lane > excluded.lane) then excluded.author else r.author end,
    title  = case when excluded.title  <> '' and (r.title  = '' or r.lane > excluded.lane) then excluded.title  else r.title  end
  where excluded.at is not null and (r.at is null or r.lane > excluded.lane)`

// cacheCommits caches, after the commit, those commits whose time only a more trusted sender can still
// change.
func (s *Store) cacheCommits(r *row) {
	for n, sha := range r.commits.shas {
		if r.commits.times[n] != nil {
			s.known.commits.Add(commitKey{r.project, sha}, r.lane)
		}
	}
}

// Revisions returns what reports stated about commits. Unknown commits are omitted. A commit whose
// time was reported by the default branch never changes, so it is cached: the series of a suite
// share their commits.
func (s *Store) Revisions(ctx context.Context, project int64, shas []string) (map[string]client.Commit, error) {
	known := make(map[string]client.Commit, len(shas))
	s.known.settled.Get(len(shas), func(i int) commitKey { return commitKey{project, shas[i]} },
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
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(`select sha, parent, at, author, title, lane from pawl.revision where project_id = $1 and sha = any($2)`, project, unknown).Query(func(rows pgx.Rows) error {
			var c client.Commit
			var lane int16
			_, err := pgx.ForEachRow(rows, []any{&c.SHA, &c.Parent, &c.At, &c.Author, &c.Title, &lane}, func() error {
				known[c.SHA] = c
				if lane == 0 && c.At != nil {
					s.known.settled.Add(commitKey{project, c.SHA}, c)
				}
				return nil
			})
			return err
		})
	})
	return known, pg.Wrap(err, "cannot read %d commits of project %d", len(unknown), project)
}
