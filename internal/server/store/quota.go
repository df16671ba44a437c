package store

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// quotas caches the usage of projects for a short time. Counting it for every report would cost more
// than the report. Several servers on one database can together exceed a quota by what each accepts
// between two counts.
type quotas struct {
	mu   sync.Mutex
	used map[quotaScope]*used
}

// quotaScope selects what is counted: all of a project, or only its forks.
type quotaScope struct {
	project int64
	forks   bool
}

type used struct {
	settings      Settings
	points, bytes int64
	day           time.Time
	asOf          time.Time
}

const (
	quotaAge  = 10 * time.Second
	quotaMost = 10_000 // max projects cached
)

func newQuotas() *quotas { return &quotas{used: map[quotaScope]*used{}} }

// Default limits for forks: enough for a busy day of pull requests, and far from filling a disk.
// If the project has a quota, forks get at most a quarter of it.
const (
	forkPointsADay = 500_000
	forkBlobBytes  = 2 << 30
	forkSeries     = 50_000
	forkShare      = 4
)

// forks returns the limit for forks: the setting, else the default, capped by a share of the quota.
func forks(said, quota, otherwise int64) int64 {
	switch {
	case said > 0:
		return said
	case quota > 0:
		return min(quota/forkShare, otherwise)
	default:
		return otherwise
	}
}

// check returns a [QuotaError] if this many more points or bytes would exceed a quota.
func (q *quotas) check(ctx context.Context, s *Store, project int64, lane client.Lane, points, bytes int64) error {
	if err := q.fits(ctx, s, quotaScope{project, false}, points, bytes); err != nil || lane != client.Fork {
		return err
	}
	return q.fits(ctx, s, quotaScope{project, true}, points, bytes)
}

func (q *quotas) fits(ctx context.Context, s *Store, of quotaScope, points, bytes int64) error {
	u, err := q.of(ctx, s, of)
	if err != nil {
		return err
	}
	b := s.bounds.of(u.settings)
	mostPoints, mostBytes, whose := b.PointsPerDay, b.BlobBytes, ""
	if of.forks {
		mostPoints = forks(u.settings.ForkPointsPerDay, mostPoints, forkPointsADay)
		mostBytes, whose = forks(u.settings.ForkBlobBytes, mostBytes, forkBlobBytes), " of forks"
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case mostPoints > 0 && points > 0 && u.points+points > mostPoints:
		return &QuotaError{"points per day" + whose, mostPoints}
	case mostBytes > 0 && bytes > 0 && u.bytes+bytes > mostBytes:
		return &QuotaError{"bytes of blobs" + whose, mostBytes}
	}
	return nil
}

// settings returns the cached settings of a project.
func (q *quotas) settings(ctx context.Context, s *Store, project int64) (Settings, error) {
	u, err := q.of(ctx, s, quotaScope{project, false})
	if err != nil {
		return Settings{}, err
	}
	return u.settings, nil
}

func (q *quotas) of(ctx context.Context, s *Store, of quotaScope) (*used, error) {
	now := s.db.Now()
	day := now.UTC().Truncate(24 * time.Hour)
	q.mu.Lock()
	u := q.used[of]
	q.mu.Unlock()
	if u != nil && u.day.Equal(day) && now.Sub(u.asOf) < quotaAge {
		return u, nil
	}
	fresh, err := s.countUsed(ctx, of, day)
	if err != nil {
		return nil, err
	}
	fresh.day, fresh.asOf = day, now
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.used) >= quotaMost {
		clear(q.used)
	}
	q.used[of] = fresh
	return fresh, nil
}

// add counts newly stored points and bytes.
func (q *quotas) add(project int64, lane client.Lane, points, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, forks := range []bool{false, true} {
		if u := q.used[quotaScope{project, forks}]; u != nil && (!forks || lane == client.Fork) {
			u.points += points
			u.bytes += bytes
		}
	}
}

func (q *quotas) forget(project int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.used, quotaScope{project, false})
	delete(q.used, quotaScope{project, true})
}

// countUsed counts only what is limited. Data from forks has its own indexes.
func (s *Store) countUsed(ctx context.Context, of quotaScope, day time.Time) (*used, error) {
	u := &used{}
	var text []byte
	sums := `
		  case when $3 or p.settings ? 'points_a_day' then (select coalesce(sum(points), 0) from pawl.report where project_id = $1 and received >= $2) else 0 end,
		  case when $4 or p.settings ? 'blob_bytes' then (select coalesce(sum(size), 0) from pawl.blob where project_id = $1) else 0 end`
	args := []any{of.project, day}
	if !of.forks {
		args = append(args, s.bounds.PointsPerDay > 0, s.bounds.BlobBytes > 0)
	} else {
		sums = `
		  (select coalesce(sum(points), 0) from pawl.report where project_id = $1 and received >= $2 and lane = 2),
		  (select coalesce(sum(size), 0) from pawl.blob where project_id = $1 and fork)`
	}
	err := s.db.Of(of.project).QueryRow(ctx, `select p.settings,`+sums+` from pawl.project p where p.id = $1 and p.deleting is null`, args...).
		Scan(&text, &u.points, &u.bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot count the usage of project %d: %w", of.project, pg.Found(err))
	}
	if err := json.Unmarshal(text, &u.settings); err != nil {
		return nil, fmt.Errorf("cannot parse the settings of project %d: %w", of.project, err)
	}
	return u, nil
}
