package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Project is a project of the server.
type Project struct {
	ID int64
	client.Project
	Settings Settings
}

// Settings are decided by the project's admins; quotas are decided by the server's admins. Zero
// means the server's default, and for a quota none.
type Settings struct {
	PointsPerDay int64 `json:"points_a_day,omitempty"` // more are refused
	BlobBytes    int64 `json:"blob_bytes,omitempty"`   // more are refused
	Series       int64 `json:"series,omitempty"`       // more are refused

	ForkPointsPerDay int64 `json:"fork_points_a_day,omitempty"` // part of PointsPerDay that forks may use
	ForkBlobBytes    int64 `json:"fork_blob_bytes,omitempty"`

	SampleDays int `json:"sample_days,omitempty"` // delete raw samples after this many days, except next to changes
	BranchDays int `json:"branch_days,omitempty"` // delete points of branches and forks after this many days
}

// Quotas returns only the settings that the server's admins decide.
func (n Settings) Quotas() Settings {
	n.SampleDays, n.BranchDays = 0, 0
	return n
}

// ErrTaken means that a name is in use.
var ErrTaken = errors.New("the name is taken")

// CreateProject adds a project; its slug must be free.
func (s *Store) CreateProject(ctx context.Context, p Project) (Project, error) {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return Project{}, err
	}
	row, err := db.New(s.db.Rows()).CreateProject(ctx, db.CreateProjectParams{
		Slug: p.Slug, Name: cmp.Or(p.Name, p.Slug), Public: p.Public, Repository: p.Repository,
		DefaultBranch: cmp.Or(p.Branch, "main"), Settings: settings, Created: s.db.Now(),
	})
	switch {
	case pg.Violates(err, "23505"):
		return Project{}, fmt.Errorf("cannot create project %q: %w", p.Slug, ErrTaken)
	case pg.Violates(err, "23514"):
		return Project{}, &pg.InvalidError{What: fmt.Sprintf("the project name %q must be up to 64 of a-z, 0-9 and -, without - at the ends", p.Slug)}
	case err != nil:
		return Project{}, fmt.Errorf("cannot create project %q: %w", p.Slug, pg.Input(err))
	}
	return projectOf(row)
}

// NewProject adds a project and the first line of its audit log.
func (s *Store) NewProject(ctx context.Context, p Project, actor string) (made Project, err error) {
	err = s.db.InProject(ctx, 0, func(tx pgx.Tx) error {
		if made, err = s.within(tx, 0).CreateProject(ctx, p); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, pg.SelectProject, strconv.FormatInt(made.ID, 10)); err != nil {
			return fmt.Errorf("cannot select project %q: %w", p.Slug, err)
		}
		return s.audit(ctx, tx, made.ID, actor, "project.create", map[string]string{"slug": made.Slug})
	})
	return made, err
}

// Project returns the project with this slug, or [ErrNotFound].
func (s *Store) Project(ctx context.Context, slug string) (Project, error) {
	row, err := db.New(s.db.Rows()).ProjectBySlug(ctx, slug)
	if err != nil {
		return Project{}, fmt.Errorf("project %q: %w", slug, pg.Found(err))
	}
	return projectOf(row)
}

// ProjectByID returns the project with this number, or [ErrNotFound].
func (s *Store) ProjectByID(ctx context.Context, id int64) (Project, error) {
	row, err := db.New(s.db.Rows()).ProjectByID(ctx, id)
	if err != nil {
		return Project{}, fmt.Errorf("project %d: %w", id, pg.Found(err))
	}
	return projectOf(row)
}

// LockProject returns a project and locks its row until the end of the audited change.
func (s *Store) LockProject(ctx context.Context, project int64) (Project, error) {
	if _, err := s.db.Rows().Exec(ctx, `select from pawl.project where id = $1 for update`, project); err != nil {
		return Project{}, fmt.Errorf("cannot lock project %d: %w", project, err)
	}
	return s.ProjectByID(ctx, project)
}

// UpdateProject writes everything of a project except its number, slug and creation time.
func (s *Store) UpdateProject(ctx context.Context, p Project) error {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	n, err := db.New(s.db.Rows()).UpdateProject(ctx, db.UpdateProjectParams{
		ID: p.ID, Name: p.Name, Public: p.Public, Repository: p.Repository, DefaultBranch: p.Branch, Settings: settings,
	})
	if err != nil {
		return fmt.Errorf("cannot change project %q: %w", p.Slug, pg.Input(err))
	}
	if n == 0 {
		return fmt.Errorf("cannot change project %q: %w", p.Slug, ErrNotFound)
	}
	s.quotas.forget(p.ID)
	return nil
}

// Projects lists the projects that an account may see, by slug: public ones and its own, or every
// project if all is set. Account 0 is an anonymous user.
func (s *Store) Projects(ctx context.Context, account int64, all bool) ([]Project, error) {
	var rows []db.PawlProject
	var err error
	if all {
		rows, err = db.New(s.db.Rows()).AllProjects(ctx)
	} else {
		rows, err = db.New(s.db.OfAccount(account)).ProjectsOf(ctx, account)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list projects: %w", err)
	}
	list := make([]Project, len(rows))
	for n, row := range rows {
		if list[n], err = projectOf(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func projectOf(row db.PawlProject) (Project, error) {
	p := Project{ID: row.ID, Project: client.Project{
		Slug: row.Slug, Name: row.Name, Public: row.Public, Repository: row.Repository,
		Branch: row.DefaultBranch, Created: row.Created.UTC(),
	}}
	if err := json.Unmarshal(row.Settings, &p.Settings); err != nil {
		return Project{}, fmt.Errorf("cannot parse the settings of project %q: %w", row.Slug, err)
	}
	return p, nil
}
