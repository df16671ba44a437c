// Package migrations holds the schema of the database as a list of steps, and upgrades a database to it.
//
// The version of a schema, and of a binary, is the number of its last step. A step names the oldest binary
// that can run beside it, so servers of two versions share one database during an upgrade and on the way
// back. Steps expand: they add tables, columns with defaults, and indexes built concurrently. A step that
// takes something away contracts, and comes at least one version after the last binary that used it.
//
// The package must not know what the tables are for.
package migrations

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

//go:embed *.sql
var embedded embed.FS

// files is where the steps of this binary are. Only [Pretend] replaces it.
var files fs.FS = embedded

// Pretend makes this process a pawld with other migrations: a test's older or newer version. Call it before
// any other function of this package.
func Pretend(steps fs.FS) { files = steps }

// Files returns the migrations of this binary.
func Files() fs.FS { return files }

// ErrNewer means that a later pawld migrated the database, and that this binary cannot run beside it.
var ErrNewer = errors.New("the database was migrated by a newer pawld")

// Migrate upgrades the schema to the version of this binary, never down, and returns the steps it
// applied. Servers that start together take turns through a database lock. A database that a newer pawld
// migrated is left as it is, if this binary can run beside it.
func Migrate(ctx context.Context, url string) (names []string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to migrate the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := takeTurn(ctx, conn); err != nil {
		return nil, fmt.Errorf("cannot lock the migrations: %w", err)
	}
	if _, err := conn.Exec(ctx, `create schema if not exists pawl;
		create table if not exists pawl.migration (name text primary key, digest text not null, at timestamptz not null default now());
		alter table pawl.migration add column if not exists oldest text not null default ''`); err != nil {
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

// takeTurn waits until no other process migrates. It asks again and again: a statement that waited in the
// database would hold a snapshot, for which the build of an index waits.
func takeTurn(ctx context.Context, conn *pgx.Conn) error {
	const lock = 0x7061776c // "pawl"
	for {
		var free bool
		if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, lock).Scan(&free); err != nil || free {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// lockAttempts is how often a step tries to get its locks, a second each.
const lockAttempts = 60

// apply runs one step. A statement that waits for a lock blocks all later queries on the same table, so it
// waits briefly, lets those pass, and tries again.
func (s step) apply(ctx context.Context, conn *pgx.Conn) error {
	run := s.inTransaction
	if s.concurrent {
		run = s.concurrently
	}
	for n := 1; ; n++ {
		err := run(ctx, conn)
		busy, ok := errors.AsType[*pgconn.PgError](err)
		if err == nil {
			return nil
		}
		if !ok || busy.Code != "55P03" || n == lockAttempts {
			return fmt.Errorf("migration %s: %w", s.name, err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func (s step) inTransaction(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local lock_timeout = '1s'`); err != nil {
			return err
		}
		if _, err := tx.Conn().PgConn().Exec(ctx, s.text).ReadAll(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, insertStep, s.name, s.digest, s.oldest)
		failpoint.At("migrate.written")
		return err
	})
}

const insertStep = `insert into pawl.migration (name, digest, oldest) values ($1, $2, $3)`

// concurrently runs the statements of a step one by one, without a transaction: an index can be built
// beside writers only that way. An interrupted build leaves an index that is not valid and that "if not exists" would
// keep, so those are removed first.
func (s step) concurrently(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `select format('drop index concurrently %I.%I', n.nspname, c.relname)
		from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'pawl' and not i.indisvalid and c.relkind = 'i'`)
	if err != nil {
		return err
	}
	half, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, sql := range slices.Concat(half, statements(s.text)) {
		if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, insertStep, s.name, s.digest, s.oldest)
	return err
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

// record is a step as the database remembers it.
type record struct{ digest, oldest string }

func applied(ctx context.Context, q querier) (map[string]record, error) {
	// A database that was last migrated before steps named their oldest binary does not have the column.
	rows, err := q.Query(ctx, `select name, digest, coalesce(to_jsonb(m)->>'oldest', '') from pawl.migration m`)
	if err != nil {
		return nil, fmt.Errorf("cannot read which migrations were applied: %w", err)
	}
	done := map[string]record{}
	var name string
	var r record
	_, err = pgx.ForEachRow(rows, []any{&name, &r.digest, &r.oldest}, func() error { done[name] = r; return nil })
	if err != nil {
		return nil, fmt.Errorf("cannot read which migrations were applied: %w", err)
	}
	return done, nil
}

// checkHistory refuses a database whose schema this binary cannot use: one of its steps was changed, or the
// database has a step that it does not know and cannot run beside.
func checkHistory(done map[string]record, steps []step) error {
	own := "" // the version of this binary
	for _, s := range steps {
		own = max(own, version(s.name))
		if r, known := done[s.name]; known && r.digest != s.digest {
			return fmt.Errorf("migration %s was changed after it was applied: the schema is not what this pawld expects", s.name)
		}
	}
	for name, r := range done {
		switch {
		case slices.ContainsFunc(steps, func(s step) bool { return s.name == name }):
		case version(name) <= own:
			return fmt.Errorf("the database has migration %s, which this pawld does not know, of a version that it does: it belongs to another history; install the pawld that migrated it", name)
		case r.oldest == "" || r.oldest > own:
			return fmt.Errorf("%w: beside migration %s it needs version %s or later, and this is %s; install a newer pawld", ErrNewer, name, cmp.Or(r.oldest, version(name)), own)
		}
	}
	return nil
}
