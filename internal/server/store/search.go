package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Limits of a search.
const (
	searchProjects = 100
	searchEach     = 20 // per kind and project
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
// matches names of projects, series by the words of the text, runs and commits by prefix, and commits
// also by title.
func (s *Store) Search(ctx context.Context, account int64, all bool, text string) ([]Hit, error) {
	terms := words(text)
	if len(terms) == 0 {
		return nil, nil
	}
	projects, err := s.Projects(ctx, account, all)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, p := range projects[:min(len(projects), searchProjects)] {
		if strings.Contains(p.Slug, strings.ToLower(strings.TrimSpace(text))) {
			hits = append(hits, Hit{Project: p.Slug, Kind: "project", ID: p.ID, Name: p.Name})
		}
		found, err := s.searchIn(ctx, p, terms, strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("cannot search project %q: %w", p.Slug, err)
		}
		hits = append(hits, found...)
	}
	return hits, nil
}

func (s *Store) searchIn(ctx context.Context, p Project, terms []string, text string) ([]Hit, error) {
	var hits []Hit
	err := s.db.ReadBatch(ctx, p.ID, func(b *pgx.Batch) {
		add := func(kind, sql string, args ...any) {
			b.Queue(sql, append(args, p.ID, searchEach)...).Query(func(rows pgx.Rows) error {
				h := Hit{Project: p.Slug, Kind: kind}
				_, err := pgx.ForEachRow(rows, []any{&h.ID, &h.Name, &h.Detail}, func() error {
					hits = append(hits, h)
					return nil
				})
				return err
			})
		}
		add("series", `select s.id, s.name || case s.implementation when 'candidate' then '' else '/' || s.implementation end,
			s.suite || ', ' || coalesce(t.facts->>'device', '') || case s.lane when 0 then '' when 1 then ', branches' else ', forks' end
			from pawl.series s left join pawl.testbed t on t.project_id = s.project_id and t.id = s.testbed_id
			where s.project_id = $2 and s.excluded is null and `+searched("s.")+` like all ($1) order by s.lane, s.name collate "C", s.id limit $3`, terms)
		// A prefix search as a range: from the text up to the text plus a character after all others.
		add("run", `select id, run, suite || ' ' || verdict from pawl.report
			where project_id = $2 and run >= $1 and run < $1 || chr(126) order by id desc limit $3`, strings.ToUpper(text))
		if len(text) >= 4 {
			add("commit", `select 0, sha, title from pawl.revision where project_id = $2 and sha >= $1 and sha < $1 || 'g' order by sha limit $3`, strings.ToLower(text))
		}
		add("commit", `select 0, sha, title from pawl.revision where project_id = $2 and lower(title collate "C") like all ($1) order by at desc nulls last, sha limit $3`, terms)
	})
	return hits, err
}
