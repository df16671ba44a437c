package fleetstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// SetBudget sets what a project may use on a day; zero means no limit.
func (s *Store) SetBudget(ctx context.Context, project int64, limit placement.Cost) error {
	_, err := s.db.Of(project).Exec(ctx, `insert into pawl.budget (project_id, limit_seconds, limit_money) values ($1, $2, $3)
		on conflict (project_id) do update set limit_seconds = $2, limit_money = $3`, project, limit.Seconds, limit.Money)
	return pg.Wrap(err, "cannot set the budget of project %d", project)
}

// Budget returns the budget of a project.
func (s *Store) Budget(ctx context.Context, project int64) (b placement.Budget, err error) {
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		b, err = readBudget(ctx, tx, project, "")
		return err
	})
	if pg.None(err) {
		return b, nil
	}
	return b, pg.Wrap(err, "cannot read the budget of project %d", project)
}

// SetTier sets whose code the keys of a project send.
func (s *Store) SetTier(ctx context.Context, project int64, t tier.Tier) error {
	_, err := s.db.Of(project).Exec(ctx, `insert into pawl.budget (project_id, tier) values ($1, $2)
		on conflict (project_id) do update set tier = $2`, project, t)
	return pg.Wrap(pg.Input(err), "cannot set the tier of project %d", project)
}

// Tier returns whose code the keys of a project send.
func (s *Store) Tier(ctx context.Context, project int64) (t tier.Tier, err error) {
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select tier from pawl.budget where project_id = $1`, project).Scan(&t)
	})
	if pg.None(err) {
		return tier.Own, nil
	}
	return t, pg.Wrap(err, "cannot read the tier of project %d", project)
}

// Reserve takes the worst-case cost of a lease from the budget of a project. Reserving it again changes nothing.
func (s *Store) Reserve(ctx context.Context, project int64, r placer.Reservation) (out placer.Reserved, err error) {
	err = s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		b, err := lockBudget(ctx, tx, project)
		if err != nil {
			return err
		}
		var known bool
		if err := tx.QueryRow(ctx, `select exists (select from pawl.reservation where project_id = $1 and lease = $2)`, project, r.Lease).Scan(&known); err != nil {
			return err
		}
		if known {
			out.OK = true
			return nil
		}
		if out.OK = b.Reserve(r.Cost, r.Start); !out.OK {
			out.Until = placement.Until(r.Start)
			return nil
		}
		if _, err := tx.Exec(ctx, `insert into pawl.reservation (project_id, lease, seconds, money, start) values ($1, $2, $3, $4, $5)`,
			project, r.Lease, r.Cost.Seconds, r.Cost.Money, r.Start); err != nil {
			return err
		}
		return keepBudget(ctx, tx, project, b)
	})
	return out, pg.Wrap(err, "cannot reserve lease %s", r.Lease)
}

// Settle returns what a lease did not use to the budget of its project, once.
func (s *Store) Settle(ctx context.Context, project int64, l placer.Settlement) error {
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		b, err := lockBudget(ctx, tx, project)
		if err != nil {
			return err
		}
		r := placer.Reservation{}
		err = tx.QueryRow(ctx, `update pawl.reservation set settled = true where project_id = $1 and lease = $2 and not settled returning seconds, money, start`, project, l.Lease).
			Scan(&r.Cost.Seconds, &r.Cost.Money, &r.Start)
		if pg.None(err) {
			return nil
		}
		if err != nil {
			return err
		}
		b.Settle(r.Cost, l.Seconds, r.Start)
		return keepBudget(ctx, tx, project, b)
	})
	return pg.Wrap(err, "cannot settle lease %s", l.Lease)
}

// lockBudget reads a budget for a change. A project without one has no limit.
func lockBudget(ctx context.Context, tx pgx.Tx, project int64) (b placement.Budget, err error) {
	if _, err := tx.Exec(ctx, `insert into pawl.budget (project_id) values ($1) on conflict do nothing`, project); err != nil {
		return b, err
	}
	return readBudget(ctx, tx, project, " for update")
}

func readBudget(ctx context.Context, tx pgx.Tx, project int64, lock string) (b placement.Budget, err error) {
	err = tx.QueryRow(ctx, `select limit_seconds, limit_money, day, used_seconds, used_money from pawl.budget where project_id = $1`+lock, project).
		Scan(&b.Limit.Seconds, &b.Limit.Money, &b.Day, &b.Used.Seconds, &b.Used.Money)
	b.Day = b.Day.UTC()
	return b, err
}

func keepBudget(ctx context.Context, tx pgx.Tx, project int64, b placement.Budget) error {
	_, err := tx.Exec(ctx, `update pawl.budget set day = $2, used_seconds = $3, used_money = $4 where project_id = $1`, project, b.Day, b.Used.Seconds, b.Used.Money)
	return err
}
