package eventstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

const (
	newsAge    = 14 * 24 * time.Hour // older changes are history, not news
	newsGroups = 200
)

// Notify notifies a project if it has new groups and every has passed since its last notification.
// It marks the groups as told, permanently, and calls send for each hook in the same transaction.
func (s *Store) Notify(ctx context.Context, project int64, every time.Duration, send func(ctx context.Context, tx pgx.Tx, hook int64, told time.Time) error) error {
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('pawl.tell', $1))`, project); err != nil {
			return err
		}
		now := s.db.Now().UTC().Truncate(time.Microsecond)
		var hooks []int64
		var last *time.Time
		err := tx.QueryRow(ctx, `select array(select id from pawl.hook where project_id = $1 order by id), (select max(told) from pawl.event_group where project_id = $1)`, project).Scan(&hooks, &last)
		if err != nil || len(hooks) == 0 || last != nil && now.Sub(*last) < every {
			return err
		}
		if _, err := tx.Exec(ctx, `update pawl.event_group set told = 'epoch' where project_id = $1 and told is null and at < $2`, project, now.Add(-newsAge)); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `update pawl.event_group set told = $2 where project_id = $1 and told is null`, project, now)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		failpoint.At("tell.marked")
		for _, h := range hooks {
			if err := send(ctx, tx, h, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot check project %d for news: %w", project, err)
	}
	failpoint.At("tell.after-commit")
	return nil
}

// News implements alert.DigestSource.
func (s *Store) News(ctx context.Context, project int64, told time.Time) (alert.News, error) {
	n := alert.News{Told: told, Testbeds: map[int64]string{}}
	var events []client.Event
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		b.Queue(`select slug, name, public, repository, default_branch from pawl.project where id = $1`, project).QueryRow(func(row pgx.Row) error {
			return row.Scan(&n.Project.Slug, &n.Project.Name, &n.Project.Public, &n.Project.Repository, &n.Project.Branch)
		})
		picked := `(select id from pawl.event_group where project_id = $1 and told = $2 order by abs(worst) desc, id limit ` + strconv.Itoa(newsGroups) + `)`
		pg.Queue(b, scanGroup, &n.Groups, `select `+groupSelect+` where g.project_id = $1 and g.id in `+picked+` order by g.id`, project, told)
		pg.Queue(b, scanEvent, &events, `select `+eventSelect+` where e.project_id = $1 and e.state = 'new' and e.group_id in `+picked+`
			order by abs(ln(e.after / e.before)) desc, e.id limit `+strconv.Itoa(50*newsGroups), project, told)
		b.Queue(`select id, coalesce(facts->>'device', '') from pawl.testbed where project_id = $1`, project).Query(func(rows pgx.Rows) error {
			var id int64
			var device string
			_, err := pgx.ForEachRow(rows, []any{&id, &device}, func() error { n.Testbeds[id] = device; return nil })
			return err
		})
	})
	if err != nil {
		return n, fmt.Errorf("cannot read the news of project %d: %w", project, pg.Found(err))
	}
	distribute(n.Groups, events)
	return n, nil
}

// PendingProjects returns the projects with reports to scan, and those with hooks and news. Row security
// requires a query per project; many queries share one round trip.
func (s *Store) PendingProjects(ctx context.Context) (look, tell []int64, err error) {
	ids, err := s.db.Projects(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	for some := range slices.Chunk(ids, 500) {
		b := &pgx.Batch{}
		for _, id := range some {
			b.Queue(pg.SelectProject, strconv.FormatInt(id, 10))
			b.Queue(`select exists (select from pawl.dirty where project_id = $1),
				exists (select from pawl.event_group where project_id = $1 and told is null) and exists (select from pawl.hook where project_id = $1)`, id).
				QueryRow(func(row pgx.Row) error {
					var dirty, untold bool
					if err := row.Scan(&dirty, &untold); err != nil {
						return err
					}
					if dirty {
						look = append(look, id)
					}
					if untold {
						tell = append(tell, id)
					}
					return nil
				})
		}
		if err := s.db.Pool.SendBatch(ctx, b).Close(); err != nil {
			return nil, nil, fmt.Errorf("cannot check %d projects for pending work: %w", len(some), err)
		}
	}
	return look, tell, nil
}
