// Package pointstore stores the points of series: as rows while they are hot, and in compressed tiles of many
// points afterwards. Readers see one history, wherever a point is. Compaction moves points from rows to
// tiles, and each month of rows is a partition that is dropped when it is empty.
//
// The package must not know reports beyond their number, time and commit, nor what a change in a history
// means.
package pointstore

import (
	"errors"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/rowcache"
)

// Store is the points of all projects.
type Store struct {
	db      *pg.DB
	months  *rowcache.Cache[time.Time, struct{}] // months whose partition exists
	reports *rowcache.Cache[reportKey, string]   // commits of reports
}

type reportKey struct{ project, report int64 }

// New returns the points of a database.
func New(db *pg.DB) *Store {
	return &Store{db: db, months: rowcache.New[time.Time, struct{}](1_000), reports: rowcache.New[reportKey, string](200_000)}
}

// With returns the same points as seen by a transaction.
func (s *Store) With(db *pg.DB) *Store { return &Store{db, s.months, s.reports} }

// ErrDamaged means that a tile differs from what was written.
var ErrDamaged = errors.New("it is damaged: restore it from a backup (pawld fsck lists all damaged tiles)")
