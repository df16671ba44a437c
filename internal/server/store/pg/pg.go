// Package pg connects to the PostgreSQL of a server. It refuses a database that cannot keep the server's
// guarantees. Every statement about a project runs in a transaction that names the project, and row
// security hides the rows of all others.
//
// The package must not know what the rows mean.
package pg

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goatnote-inc/pawl/internal/server/store/db"
)

// Role is the database role of the pool. It owns no tables, so that row security applies to it.
const Role = "pawl_app"

// Config says where the database is and how strictly to check it.
type Config struct {
	URL         string
	Conns       int              // max connections; 0 means four per core, at least 16
	AllowUnsafe bool             // accept a database that may lose acknowledged data: for tests and demos
	Now         func() time.Time // nil means the system clock
}

// DB is a migrated database, or one transaction in it (see [DB.Within]). It is safe for concurrent use.
type DB struct {
	Pool *pgxpool.Pool
	Now  func() time.Time

	// Superuser is the name of the connection's user if it is a superuser, which the server does not need.
	Superuser string

	tx     pgx.Tx // nil outside of Within
	within int64  // its project
}

// Open connects to a migrated database. It refuses one that cannot keep the server's guarantees: see
// [RefusedError].
func Open(ctx context.Context, c Config) (*DB, error) {
	conf, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the database URL: %w", err)
	}
	if c.Conns <= 0 {
		// Most connections wait for the disk: commits that wait together share one write.
		c.Conns = max(16, 4*runtime.NumCPU())
	}
	conf.MaxConns = int32(min(c.Conns, 1000))
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "set role "+Role); Violates(err, "22023") {
			return &RefusedError{"it was not migrated: there is no role " + Role, DoMigrate}
		} else if err != nil {
			return fmt.Errorf("cannot use role %s: grant it to the user of the connection: %w", Role, err)
		}
		sendNumbers(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	d := &DB{Pool: pool, Now: c.Now}
	if d.Now == nil {
		d.Now = time.Now
	}
	if err := d.examine(ctx, c.AllowUnsafe); err != nil {
		pool.Close()
		return nil, err
	}
	return d, nil
}

// Close waits for running queries and closes the connections.
func (d *DB) Close() { d.Pool.Close() }

// Within returns the database as seen by one transaction, which sees only rows of one project.
func (d *DB) Within(tx pgx.Tx, project int64) *DB {
	return &DB{Pool: d.Pool, Now: d.Now, tx: tx, within: project}
}

// Rows returns the connection for statements that name no project: the transaction, or the pool.
func (d *DB) Rows() db.DBTX {
	if d.tx != nil {
		return d.tx
	}
	return d.Pool
}

// Projects returns the one project, or all projects that are not being deleted if one is 0.
func (d *DB) Projects(ctx context.Context, one int64) ([]int64, error) {
	if one != 0 {
		return []int64{one}, nil
	}
	ids, err := Collect(ctx, d.Pool, pgx.RowTo[int64], `select id from pawl.project where deleting is null order by id`)
	return ids, Wrap(err, "cannot list projects")
}

// ErrNotFound means that an object does not exist, or that the caller may not see it.
var ErrNotFound = errors.New("not found")

// InvalidError describes input that can never be stored.
type InvalidError struct{ What string }

func (e *InvalidError) Error() string { return e.What }

// Wrap says what failed; nil stays nil.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// Found converts pgx's error for no rows to [ErrNotFound].
func Found(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// None reports whether err only means that no row was found.
func None(err error) bool { return errors.Is(Found(err), ErrNotFound) }

// Violates reports whether the database refused a statement with this code.
func Violates(err error, code string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == code
}

// Input converts the database's rejection of invalid text (a zero byte, half a character) to an
// [InvalidError]: the error is the sender's, not the server's.
func Input(err error) error {
	if Violates(err, "22021") || Violates(err, "22P05") {
		return &InvalidError{"a text contains invalid characters"}
	}
	return err
}
