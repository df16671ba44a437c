package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Migrate upgrades River's tables, in their own schema, to the version of this binary. It grants pawld's role
// only the rights to use them. Servers that start together take turns.
func Migrate(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("cannot connect to migrate the queue: %w", err)
	}
	defer pool.Close()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("cannot connect to migrate the queue: %w", err)
	}
	defer conn.Release()
	const lock = 0x72697665 // "rive"
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, lock); err != nil {
		return fmt.Errorf("cannot lock the queue's migrations: %w", err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, lock) }()
	if _, err := conn.Exec(ctx, `create schema if not exists `+schema); err != nil {
		return fmt.Errorf("cannot create the queue's schema: %w", err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema})
	if err != nil {
		return fmt.Errorf("cannot migrate the queue: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("cannot migrate the queue: %w", err)
	}
	const grants = `grant usage on schema river to pawl_app;
		grant select, insert, update, delete on all tables in schema river to pawl_app;
		revoke insert, update, delete on river.river_migration from pawl_app;
		grant usage, select on all sequences in schema river to pawl_app;
		grant execute on all functions in schema river to pawl_app`
	if _, err := conn.Exec(ctx, grants); err != nil {
		return fmt.Errorf("cannot let %s use the queue: %w", pg.Role, err)
	}
	return nil
}
