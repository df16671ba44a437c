package store

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewer means that the database was migrated by a later pawld.
var ErrNewer = errors.New("the database was migrated by a newer pawld")

// Migrate upgrades the schema to the version of this binary, never down, and returns the steps it
// applied. Servers that start together take turns through a database lock. Each step is one
// transaction.
func Migrate(ctx context.Context, url string) (applied []string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to migrate the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	const lock = 0x7061776c // "pawl"
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, lock); err != nil {
		return nil, fmt.Errorf("cannot lock the migrations: %w", err)
	}
	if _, err := conn.Exec(ctx, `create schema if not exists pawl;
		create table if not exists pawl.migration (name text primary key, digest text not null, at timestamptz not null default now())`); err != nil {
		return nil, fmt.Errorf("cannot prepare the list of migrations: %w", err)
	}
	done, err := appliedMigrations(ctx, conn)
	if err != nil {
		return nil, err
	}
	steps, err := steps()
	if err != nil {
		return nil, err
	}
	if err := checkHistory(done, steps); err != nil {
		return nil, err
	}
	for _, s := range steps {
		if _, known := done[s.name]; known {
			continue
		}
		if err := s.apply(ctx, conn); err != nil {
			return applied, err
		}
		failpoint.At("migrate.applied")
		applied = append(applied, s.name)
	}
	return applied, nil
}

type step struct{ name, text, digest string }

func (s step) apply(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// A migration that waits for a lock blocks all later queries on the same table.
		if _, err := tx.Exec(ctx, `set local lock_timeout = '5s'`); err != nil {
			return err
		}
		if _, err := tx.Conn().PgConn().Exec(ctx, s.text).ReadAll(); err != nil {
			return fmt.Errorf("migration %s: %w", s.name, err)
		}
		_, err := tx.Exec(ctx, `insert into pawl.migration (name, digest) values ($1, $2)`, s.name, s.digest)
		failpoint.At("migrate.written")
		return err
	})
}

func steps() ([]step, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []step
	for _, n := range names {
		b, err := migrations.ReadFile(n)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		list = append(list, step{name: n[len("migrations/"):], text: string(b), digest: hex.EncodeToString(sum[:])})
	}
	return list, nil
}

func appliedMigrations(ctx context.Context, q interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
},
) (map[string]string, error) {
	rows, err := q.Query(ctx, `select name, digest from pawl.migration`)
	if err != nil {
		return nil, fmt.Errorf("cannot read which migrations were applied: %w", err)
	}
	done := map[string]string{}
	var name, digest string
	_, err = pgx.ForEachRow(rows, []any{&name, &digest}, func() error { done[name] = digest; return nil })
	if err != nil {
		return nil, fmt.Errorf("cannot read which migrations were applied: %w", err)
	}
	return done, nil
}

// checkHistory refuses a database whose migration history differs from that of this binary.
func checkHistory(done map[string]string, steps []step) error {
	for _, s := range steps {
		if digest, known := done[s.name]; known && digest != s.digest {
			return fmt.Errorf("migration %s was changed after it was applied: the schema is not what this pawld expects", s.name)
		}
	}
	for name := range done {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return fmt.Errorf("%w: it has migration %s, which this pawld does not know; install that version", ErrNewer, name)
		}
	}
	return nil
}
