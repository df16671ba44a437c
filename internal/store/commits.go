package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// told is what a report says of commits, as columns, by sha.
type told struct {
	shas, parents, authors, titles []string
	times                          []*time.Time
}

// news are the commits of a report but for those of which this process knows that the
// database has their time from a sender as trusted as this one: of the 256 parents that
// each report carries, mostly none.
func (s *Store) news(r *row) told {
	all := append([]client.Commit{r.report.Commit}, r.report.History...)
	known := make([]bool, len(all))
	s.known.commits.get(len(all), func(n int) commitKey { return commitKey{r.project, all[n].SHA} },
		func(n int, lane int16) { known[n] = lane <= r.lane })
	var list []client.Commit
	for n, c := range all {
		if !known[n] {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b client.Commit) int { return cmp.Compare(a.SHA, b.SHA) })
	list = slices.CompactFunc(list, func(a, b client.Commit) bool { return a.SHA == b.SHA })
	var t told
	for _, c := range list {
		t.shas, t.parents, t.times = append(t.shas, c.SHA), append(t.parents, c.Parent), append(t.times, c.At)
		t.authors, t.titles = append(t.authors, c.Author), append(t.titles, c.Title)
	}
	return t
}

// tellCommits is the part of writeReport that tells of commits where something becomes
// known: the first who tells of one, the first who knows its time, and a more trusted
// sender over another. Rows are found by the index alone, however old the plan is. Who
// tells of the same commit at the same moment waits for the end of the transaction; all
// tell of them in the same order.
const tellCommits = `
  insert into pawl.revision as r (project_id, lane, sha, parent, at, author, title)
  select $1, $13, unnest($34::text[]), unnest($35::text[]), unnest($36::timestamptz[]), unnest($37::text[]), unnest($38::text[]) from receipt
  on conflict (project_id, sha) do update set at = excluded.at, lane = excluded.lane,
    parent = case when excluded.parent <> '' and (r.parent = '' or r.lane > excluded.lane) then excluded.parent else r.parent end,
    author = case when excluded.author <> '' and (r.author = '' or r.lane > excluded.lane) then excluded.author else r.author end,
    title  = case when excluded.title  <> '' and (r.title  = '' or r.lane > excluded.lane) then excluded.title  else r.title  end
  where excluded.at is not null and (r.at is null or r.lane > excluded.lane)`

// settle remembers, once they are committed, the commits whose time nobody as trusted as
// this sender can change.
func (s *Store) settle(r *row) {
	for n, sha := range r.commits.shas {
		if r.commits.times[n] != nil {
			s.known.commits.add(commitKey{r.project, sha}, r.lane)
		}
	}
}
