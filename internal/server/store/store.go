package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"
)

// role is the database role of the pool. It owns no tables, so that row security applies to it.
const role = "pawl_app"

// Enqueue adds the follow-up work of a report to its transaction, so that the work exists if and only
// if the report does.
type Enqueue func(ctx context.Context, tx pgx.Tx, project, report int64) error

// Config says where the database is and how strictly to check it.
type Config struct {
	URL   string
	Conns int // max connections; 0 means four per core, at least 16

	Enqueue     Enqueue          // nil if a report has no follow-up work
	AllowUnsafe bool             // accept a database that may lose acknowledged data: for tests and demos
	Now         func() time.Time // nil means the system clock
}

// readersShare reserves one in this many connections for reads; reports never use them.
const readersShare = 8

// Store is the database of a server. Its methods are safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	enqueue Enqueue
	now     func() time.Time
	known   *rowCache
	quotas  *quotas
	writers *semaphore.Weighted // limits concurrent reports; the other connections are for reads

	tx     pgx.Tx // of an audited change; nil outside of one
	within int64  // its project
}

// Open connects to a migrated database. It refuses one that cannot keep the server's guarantees: see
// [RefusedError].
func Open(ctx context.Context, c Config) (*Store, error) {
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
		if _, err := conn.Exec(ctx, "set role "+role); violates(err, "22023") {
			return &RefusedError{"it was not migrated: there is no role " + role, "run pawld migrate"}
		} else if err != nil {
			return fmt.Errorf("cannot use role %s: grant it to the user of the connection: %w", role, err)
		}
		sendNumbers(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	s := &Store{
		pool: pool, enqueue: c.Enqueue, now: c.Now, known: newKnown(), quotas: newQuotas(),
		writers: semaphore.NewWeighted(max(1, int64(c.Conns-max(1, c.Conns/readersShare)))),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.enqueue == nil {
		s.enqueue = func(context.Context, pgx.Tx, int64, int64) error { return nil }
	}
	if err := s.examine(ctx, c.AllowUnsafe); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for running queries and closes the connections.
func (s *Store) Close() {
	if s.tx == nil { // the Store of an audited change shares the pool
		s.pool.Close()
	}
}

// Ping checks that the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// Ready returns nil if requests can be served now: the database answers, and its schema is the one
// that this binary needs.
func (s *Store) Ready(ctx context.Context) error { return s.migrated(ctx) }

// Pool returns the connection pool, for package queue, whose workers share it.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// ErrNotFound means that an object does not exist, or that the caller may not see it.
var ErrNotFound = errors.New("not found")

// found converts pgx's error for no rows to [ErrNotFound].
func found(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
