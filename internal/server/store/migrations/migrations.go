// Package migrations holds the schema of the database as a list of steps, and upgrades a database to it.
//
// The package must not know what the tables are for.
package migrations

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

//go:embed *.sql
var files embed.FS

// ErrNewer means that the database was migrated by a later pawld.
var ErrNewer = errors.New("the database was migrated by a newer pawld")

// Migrate upgrades the schema to the version of this binary, never down, and returns the steps it
// applied. Servers that start together take turns through a database lock. Each step is one
// transaction.
func Migrate(ctx context.Context, url string) (names []string, err error) {
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
	missing, err := pending(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, s := range missing {
		if err := s.apply(ctx, conn); err != nil {
			return names, err
		}
		failpoint.At("migrate.applied")
		names = append(names, s.name)
	}
	return names, nil
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
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []step
	for _, n := range names {
		b, err := files.ReadFile(n)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		list = append(list, step{name: n, text: string(b), digest: hex.EncodeToString(sum[:])})
	}
	return list, nil
}

// querier is a connection or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Missing returns the first migration of this binary that was not applied, or an empty string. It returns
// an error if the database has another history.
func Missing(ctx context.Context, q querier) (name string, err error) {
	missing, err := pending(ctx, q)
	if err != nil || len(missing) == 0 {
		return "", err
	}
	return missing[0].name, nil
}

// pending returns the steps that were not applied.
func pending(ctx context.Context, q querier) ([]step, error) {
	done, err := applied(ctx, q)
	if err != nil {
		return nil, err
	}
	all, err := steps()
	if err != nil {
		return nil, err
	}
	if err := checkHistory(done, all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(s step) bool { _, ok := done[s.name]; return ok }), nil
}

func applied(ctx context.Context, q querier) (map[string]string, error) {
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
