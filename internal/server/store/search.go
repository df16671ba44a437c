package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Limits of a search.
const (
	searchProjects = 100
	searchEach     = 20    // per kind and project
	searchNewest   = 2_000 // runs whose commits are searched by title
)

// Hit is one result of a search.
type Hit struct {
	Project string `json:"project"` // its slug
	Kind    string `json:"kind"`    // project, series, run or commit
	ID      int64  `json:"id,omitempty"`
	Name    string `json:"name"`             // of the series; the run's ULID; the commit's hash
	Detail  string `json:"detail,omitempty"` // the suite and lane, the verdict, the title
}

// Search finds text in the projects that an account may see, or in every project if all is set. It
// matches names of projects, series by words that start with those of the text, runs and commits by prefix, and
// the commits of the newest runs also by title.
func (s *Store) Search(ctx context.Context, account int64, all bool, text string) ([]Hit, error) {
	asked := terms(text)
	if len(asked) == 0 {
		return nil, nil
	}
	projects, err := s.Projects(ctx, account, all)
	if err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	var hits []Hit
	for _, p := range projects[:min(len(projects), searchProjects)] {
		if strings.Contains(p.Slug, strings.ToLower(text)) {
			hits = append(hits, Hit{Project: p.Slug, Kind: "project", ID: p.ID, Name: p.Name})
		}
		series, err := s.searchSeries(ctx, p, asked)
		if err != nil {
			return nil, fmt.Errorf("cannot search the series of project %q: %w", p.Slug, err)
		}
		others, err := s.searchRuns(ctx, p, asked, text)
		if err != nil {
			return nil, fmt.Errorf("cannot search the runs of project %q: %w", p.Slug, err)
		}
		hits = append(append(hits, series...), others...)
	}
	return hits, nil
}

// searchSeries finds series by their words, the first ones by id. Of the last that it reads it prefers those of main.
func (s *Store) searchSeries(ctx context.Context, p Project, asked []string) ([]Hit, error) {
	const found = `select s.id, s.lane, s.name || case s.implementation when 'candidate' then '' else '/' || s.implementation end,
		s.suite || ', ' || coalesce(t.facts->>'device', '') || case s.lane when 0 then '' when 1 then ', branches' else ', forks' end
		from (select s.* from pawl.series s where s.project_id = $1 and s.excluded is null and s.words like all ($3) and %s order by s.id limit $4) s
		left join pawl.testbed t on t.project_id = s.project_id and t.id = s.testbed_id order by s.lane, s.name collate "C", s.id limit $5`
	type match struct {
		ID           int64
		Lane         int16
		Name, Detail string
	}
	var rows []match
	err := s.eachMatch(ctx, p.ID, asked, 0, func(ids string, value any) (enough bool, err error) {
		some, err := pg.List(ctx, s.db, p.ID, pgx.RowToStructByPos[match], fmt.Sprintf(found, ids), p.ID, value, likeTerms(asked), checkedRows, searchEach)
		rows = append(rows, some...)
		return len(rows) >= searchEach, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	var hits []Hit
	for _, r := range rows[:min(len(rows), searchEach)] {
		hits = append(hits, Hit{Project: p.Slug, Kind: "series", ID: r.ID, Name: r.Name, Detail: r.Detail})
	}
	return hits, nil
}

// searchRuns finds runs and commits. A prefix search is a range, from the text up to the text plus a character after all others.
func (s *Store) searchRuns(ctx context.Context, p Project, asked []string, text string) ([]Hit, error) {
	var hits []Hit
	err := s.db.ReadBatch(ctx, p.ID, func(b *pgx.Batch) {
		add := func(kind, sql string, args ...any) {
			b.Queue(sql, append(args, p.ID, searchEach)...).Query(func(rows pgx.Rows) error {
				h := Hit{Project: p.Slug, Kind: kind}
				_, err := pgx.ForEachRow(rows, []any{&h.ID, &h.Name, &h.Detail}, func() error {
					if !slices.Contains(hits, h) { // a commit can match by hash and by title
						hits = append(hits, h)
					}
					return nil
				})
				return err
			})
		}
		add("run", `select id, run, suite || ' ' || verdict from pawl.report
			where project_id = $2 and run >= $1 and run < $1 || chr(126) order by id desc limit $3`, strings.ToUpper(text))
		if len(text) >= 4 {
			add("commit", `select 0, sha, title from pawl.revision where project_id = $2 and sha >= $1 and sha < $1 || 'g' order by sha limit $3`, strings.ToLower(text))
		}
		add("commit", `select 0, r.sha, r.title from (select sha, max(id) as newest from
			    (select sha, id from pawl.report where project_id = $2 order by id desc limit `+strconv.Itoa(searchNewest)+`) few group by sha) n
			join pawl.revision r on r.project_id = $2 and r.sha = n.sha
			where lower(r.title collate "C") like all ($1) order by n.newest desc limit $3`, inTitle(asked))
	})
	return hits, err
}

// inTitle returns the patterns of titles that contain every term.
func inTitle(asked []string) []string {
	list := make([]string, len(asked))
	for i, t := range asked {
		list[i] = "%" + t + "%"
	}
	return list
}
