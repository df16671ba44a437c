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

// role is what the pool runs as: it owns nothing, so that row security holds for it.
const role = "pawl_app"

// Enqueue adds the follow-up work of a report to its transaction: the work exists if and
// only if the report does.
type Enqueue func(ctx context.Context, tx pgx.Tx, project, report int64) error

// Config says where the database is, and how careful to be.
type Config struct {
	URL   string
	Conns int // at most so many connections; 0 for four a core, and 16 at least

	Enqueue     Enqueue          // nil where nothing follows a report
	AllowUnsafe bool             // take a database that forgets what it said: tests and demonstrations
	Now         func() time.Time // nil for the system's clock
}

// readersShare is the part of the connections, one in so many, that reports never take.
const readersShare = 8

// Store is the database of a server. Its methods may be used by many at once.
type Store struct {
	pool    *pgxpool.Pool
	enqueue Enqueue
	now     func() time.Time
	known   *known
	quotas  *quotas
	writers *semaphore.Weighted // reports that are being kept: the other connections are for who reads

	tx     pgx.Tx // of a deed; nil outside of one
	within int64  // its project
}

// Open connects to a migrated database. It refuses one that cannot keep the server's
// promises: see [RefusedError].
func Open(ctx context.Context, c Config) (*Store, error) {
	conf, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of the database: %w", err)
	}
	if c.Conns <= 0 {
		// Most of them wait for the disk: commits that wait together are one write.
		c.Conns = max(16, 4*runtime.NumCPU())
	}
	conf.MaxConns = int32(min(c.Conns, 1000))
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "set role "+role); violates(err, "22023") {
			return &RefusedError{"it was not migrated: there is no role " + role, "run pawld migrate"}
		} else if err != nil {
			return fmt.Errorf("becoming %s: grant it to the user of the connection: %w", role, err)
		}
		sendNumbers(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
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

// Close waits for what is under way and closes the connections.
func (s *Store) Close() { s.pool.Close() }

// Ping asks the database for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// Ready tells whether requests can be served now: the database answers, and its schema
// is the one that this binary knows.
func (s *Store) Ready(ctx context.Context) error { return s.migrated(ctx) }

// Pool is for package queue, whose workers share the connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// ErrNotFound says that there is no such thing, or none that the caller may know of.
var ErrNotFound = errors.New("not found")

// found makes of pgx's word for no row this package's.
func found(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
