package fleetstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Gated says which changes of a repository a project gates when its forge reports them, and where.
type Gated struct {
	Repository string   // OWNER/NAME
	Suite      string   // path in the repository
	Models     []string // device models
	ForkModels []string // of pull requests from forks; none: they are not gated
	Branches   []string // whose pushes are gated
	Secret     string   // signs the deliveries
}

// SetGated sets what a project gates.
func (s *Store) SetGated(ctx context.Context, project int64, g Gated) error {
	_, err := s.db.Of(project).Exec(ctx, `insert into pawl.gated (project_id, repository, suite, models, fork_models, branches, secret) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (project_id) do update set repository = $2, suite = $3, models = $4, fork_models = $5, branches = $6, secret = $7`,
		project, g.Repository, g.Suite, list(g.Models), list(g.ForkModels), list(g.Branches), g.Secret)
	if pg.Violates(err, "23514") {
		return &pg.InvalidError{What: "a gated repository needs a name, a suite, 1 to 8 models, at most 8 models for forks, at most 20 branches, and a secret of 16 bytes or more"}
	}
	return pg.Wrap(pg.Input(err), "cannot set what project %d gates", project)
}

// list returns a list that is not null.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// Gated returns what a project gates, or [pg.ErrNotFound].
func (s *Store) Gated(ctx context.Context, project int64) (Gated, error) {
	g, err := pg.One(ctx, s.db, project, func(row pgx.CollectableRow) (g Gated, err error) {
		err = row.Scan(&g.Repository, &g.Suite, &g.Models, &g.ForkModels, &g.Branches, &g.Secret)
		return g, err
	}, `select repository, suite, models, fork_models, branches, secret from pawl.gated where project_id = $1`, project)
	return g, pg.Wrap(err, "cannot read what project %d gates", project)
}

// RemoveGated lets a project gate nothing, or returns [pg.ErrNotFound].
func (s *Store) RemoveGated(ctx context.Context, project int64) error {
	tag, err := s.db.Of(project).Exec(ctx, `delete from pawl.gated where project_id = $1`, project)
	if err == nil && tag.RowsAffected() == 0 {
		err = pg.ErrNotFound
	}
	return pg.Wrap(err, "cannot remove what project %d gates", project)
}

// keepDeliveries is how long a delivery is remembered. The gate of one that is replayed later measures what the forge
// says then.
const keepDeliveries = 90 * 24 * time.Hour

// HasDelivery reports whether a delivery was accepted before.
func (s *Store) HasDelivery(ctx context.Context, project int64, digest []byte) (bool, error) {
	found, err := pg.One(ctx, s.db, project, pgx.RowTo[bool], `select exists (select from pawl.delivery where project_id = $1 and digest = $2)`, project, digest)
	return found, pg.Wrap(err, "cannot look for a delivery of project %d", project)
}

// AddDelivery remembers that a delivery was accepted, and forgets old ones.
func (s *Store) AddDelivery(ctx context.Context, project int64, digest []byte) error {
	now := s.db.Now()
	return s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `insert into pawl.delivery (project_id, digest, at) values ($1, $2, $3) on conflict do nothing`, project, digest, now)
		if err == nil {
			_, err = tx.Exec(ctx, `delete from pawl.delivery where project_id = $1 and at < $2`, project, now.Add(-keepDeliveries))
		}
		return pg.Wrap(err, "cannot record a delivery of project %d", project)
	})
}
