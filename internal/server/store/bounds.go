package store

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Bounds limits what clients can create. Zero means no limit. A project's settings take precedence.
type Bounds struct {
	Series       int64
	PointsPerDay int64
	BlobBytes    int64
	Hooks        int64
	Keys         int64 // valid ones, and those revoked within a day
	Members      int64
	Rules        int64

	Database int64 // bytes of the whole database, for all projects together
}

// SetBounds sets the limits of the server. Call it before the store is used.
func (s *Store) SetBounds(b Bounds) { s.bounds = b }

// of returns the bounds of a project.
func (b Bounds) of(p Settings) Bounds {
	b.Series = cmp.Or(p.Series, b.Series)
	b.PointsPerDay = cmp.Or(p.PointsPerDay, b.PointsPerDay)
	b.BlobBytes = cmp.Or(p.BlobBytes, b.BlobBytes)
	return b
}

// FullError means that the whole database is as large as the server's admins allow.
type FullError struct{ Limit int64 }

func (e *FullError) Error() string {
	return fmt.Sprintf("the database has reached the limit of %d bytes for all projects: an admin of the server must raise limits.database_gib or delete data", e.Limit)
}

// counted names what the rows of a table are and which of them count toward a limit. In the condition, $2 is
// the time.
type counted struct{ what, table, condition string }

var (
	countedHooks   = counted{"hooks", "hook", ""}
	countedRules   = counted{"rules", "oidc_rule", ""}
	countedMembers = counted{"members", "member", ""}
	countedLinks   = counted{"links", "link", ` and expires > $2 and (revoked is null or revoked > $2 - interval '1 day')`}
	countedKeys    = counted{"keys", "api_key", ` and (expires is null or expires > $2) and (revoked is null or revoked > $2 - interval '1 day')`}
)

// room returns a [QuotaError] if a project has as many rows as allowed.
func (s *Store) room(ctx context.Context, project int64, c counted, most int64) error {
	if most <= 0 {
		return nil
	}
	have, err := s.count(ctx, project, c)
	if err == nil && have >= most {
		err = &QuotaError{c.what, most}
	}
	return err
}

func (s *Store) count(ctx context.Context, project int64, c counted) (have int64, err error) {
	args := []any{project}
	if c.condition != "" {
		args = append(args, s.db.Now())
	}
	sql := `select count(*) from ` + pgx.Identifier{"pawl", c.table}.Sanitize() + ` where project_id = $1` + c.condition
	err = s.db.Of(project).QueryRow(ctx, sql, args...).Scan(&have)
	return have, pg.Wrap(err, "cannot count the %s of project %d", c.what, project)
}

// databaseSize caches the size of the database, which is slow to measure.
type databaseSize struct {
	mu    sync.Mutex
	bytes int64
	asOf  time.Time
}

const sizeAge = 30 * time.Second

func (d *databaseSize) now(ctx context.Context, s *Store) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := s.db.Now(); now.Sub(d.asOf) >= sizeAge || now.Before(d.asOf) {
		if err := s.db.Pool.QueryRow(ctx, `select pg_database_size(current_database())`).Scan(&d.bytes); err != nil {
			return 0, fmt.Errorf("cannot measure the database: %w", err)
		}
		d.asOf = now
	}
	return d.bytes, nil
}

// checkSize returns a [FullError] if the database must not grow.
func (s *Store) checkSize(ctx context.Context) error {
	if s.bounds.Database <= 0 {
		return nil
	}
	size, err := s.size.now(ctx, s)
	if err == nil && size >= s.bounds.Database {
		err = &FullError{s.bounds.Database}
	}
	return err
}

// Use is a limit, and how much of it is used.
type Use struct {
	Name  string `json:"name"`
	Limit int64  `json:"limit"` // 0 means none
	Used  int64  `json:"used"`
}

// Uses returns the limits of what a project can create, and their use.
func (s *Store) Uses(ctx context.Context, p Project) ([]Use, error) {
	b := s.bounds.of(p.Settings)
	day := s.db.Now().UTC().Truncate(24 * time.Hour)
	var list []Use
	for _, c := range []struct {
		counted
		limit int64
	}{
		{counted{"series", "series", ` and (deleted is null or deleted > $2)`}, b.Series},
		{counted{"testbeds", "testbed", ""}, mostTestbeds},
		{countedHooks, b.Hooks},
		{countedKeys, b.Keys},
		{countedLinks, mostLinks},
		{countedMembers, b.Members},
		{countedRules, b.Rules},
	} {
		n, err := s.count(ctx, p.ID, c.counted)
		if err != nil {
			return nil, err
		}
		list = append(list, Use{c.what, c.limit, n})
	}
	var points, forkPoints, bytes, forkBytes int64
	err := s.db.Of(p.ID).QueryRow(ctx, `select
		  coalesce((select sum(points) from pawl.report where project_id = $1 and received >= $2), 0),
		  coalesce((select sum(points) from pawl.report where project_id = $1 and received >= $2 and lane = 2), 0),
		  coalesce((select sum(size) from pawl.blob where project_id = $1), 0),
		  coalesce((select sum(size) from pawl.blob where project_id = $1 and fork), 0)`, p.ID, day).
		Scan(&points, &forkPoints, &bytes, &forkBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot count the usage of project %d: %w", p.ID, err)
	}
	size, err := s.size.now(ctx, s)
	if err != nil {
		return nil, err
	}
	return append(list,
		Use{"points today", b.PointsPerDay, points},
		Use{"points of forks today", forks(p.Settings.ForkPointsPerDay, b.PointsPerDay, forkPointsADay), forkPoints},
		Use{"bytes of files", b.BlobBytes, bytes},
		Use{"bytes of files of forks", forks(p.Settings.ForkBlobBytes, b.BlobBytes, forkBlobBytes), forkBytes},
		Use{"bytes of the server's database", s.bounds.Database, size},
	), nil
}
