package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/semaphore"

	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// RequestScan is called after a commit that marked reports to be scanned. A call that is lost delays the scan: the
// marks stay, and [eventstore.Store.PendingProjects] finds them.
type RequestScan func(ctx context.Context, project int64)

// Config says where the database is and how strictly to check it.
type Config = pg.Config

// readersShare reserves one in this many connections for reads; reports never use them.
const readersShare = 8

// The parts of a Store whose methods are its own.
type (
	pointStore = pointstore.Store
	eventStore = eventstore.Store
)

// Store is the database of a server. Its methods are safe for concurrent use.
type Store struct {
	*pointStore
	*eventStore
	db     *pg.DB
	scan   RequestScan
	known  *knownRows
	quotas *quotas
	bounds Bounds
	size   *databaseSize

	auditKey []byte              // signs audit lines; empty for none
	writers  *semaphore.Weighted // limits concurrent reports; the other connections are for reads
}

// Open connects to a migrated database. It refuses one that cannot keep the server's guarantees: see
// [pg.RefusedError]. A nil scan requests none.
func Open(ctx context.Context, c Config, scan RequestScan) (*Store, error) {
	db, err := pg.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	conns := int64(db.Pool.Config().MaxConns)
	s := &Store{
		pointStore: pointstore.New(db), eventStore: eventstore.New(db), db: db, scan: scan, known: newKnown(), quotas: newQuotas(), size: &databaseSize{},
		writers: semaphore.NewWeighted(max(1, conns-max(1, conns/readersShare))),
	}
	if s.scan == nil {
		s.scan = func(context.Context, int64) {}
	}
	return s, nil
}

// Close waits for running queries and closes the connections.
func (s *Store) Close() { s.db.Close() }

// Ready returns nil if requests can be served now: the database answers, and its schema is the one
// that this binary needs.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// DB returns the database, for package fsck and for metrics.
func (s *Store) DB() *pg.DB { return s.db }

// within returns a store whose statements all run in one transaction of a project.
func (s *Store) within(tx pgx.Tx, project int64) *Store {
	in := *s
	in.db = s.db.Within(tx, project)
	in.pointStore, in.eventStore = s.With(in.db), eventstore.New(in.db)
	return &in
}

// ErrNotFound means that an object does not exist, or that the caller may not see it.
var ErrNotFound = pg.ErrNotFound

// Unavailable reports whether err means that the database, or another service, cannot be reached now.
func Unavailable(err error) bool { return pg.Unavailable(err) }

// DiskFull reports whether err means that a disk is full.
func DiskFull(err error) bool { return pg.DiskFull(err) }

// InvalidError describes input that can never be stored.
type InvalidError = pg.InvalidError
