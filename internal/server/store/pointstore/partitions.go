package pointstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// aheadMonths is how many months ahead partitions are created.
const aheadMonths = 3

// Partitioned lists the changes to the partitions of hot points.
type Partitioned struct {
	Made    []string `json:"made,omitempty"` // months, such as 2026-03
	Dropped []string `json:"dropped,omitempty"`
}

// Partitions creates the partitions of this month and the next ones. It drops partitions that
// are empty and before [CompactBefore]. A partition in use is left for the next call.
func (s *Store) Partitions(ctx context.Context) (Partitioned, error) {
	var done Partitioned
	now := s.db.Now().UTC()
	for i := range aheadMonths + 1 {
		month := monthOf(now).AddDate(0, i, 0)
		var made bool
		if err := s.db.Pool.QueryRow(ctx, `select pawl.make_partition($1)`, month).Scan(&made); err != nil {
			return done, fmt.Errorf("cannot create the partition of %s: %w", month.Format("2006-01"), err)
		}
		if made {
			done.Made = append(done.Made, month.Format("2006-01"))
		}
	}
	months, err := s.partitioned(ctx)
	if err != nil {
		return done, err
	}
	for _, month := range months {
		if !month.Before(CompactBefore(now)) {
			continue
		}
		dropped, err := s.dropPartition(ctx, month)
		if err != nil {
			return done, fmt.Errorf("cannot drop the partition of %s: %w", month.Format("2006-01"), err)
		}
		if dropped {
			done.Dropped = append(done.Dropped, month.Format("2006-01"))
		}
	}
	return done, nil
}

// dropPartition drops a partition if it is empty. This needs a short exclusive lock. If the lock
// is not available soon, it gives up, so that other transactions do not wait.
func (s *Store) dropPartition(ctx context.Context, month time.Time) (dropped bool, err error) {
	err = pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `set local lock_timeout = '1s'`); err != nil {
			return err
		}
		// Readers and writers of points lock the table first, then its partition. The other order
		// here would cause deadlocks.
		if _, err := tx.Exec(ctx, `lock table only pawl.point in access exclusive mode`); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select pawl.drop_partition($1)`, month).Scan(&dropped)
	})
	if pg.Violates(err, "55P03") { // the lock is not available
		return false, nil
	}
	return dropped, err
}

// partitioned returns the months that have a partition, in order.
func (s *Store) partitioned(ctx context.Context) ([]time.Time, error) {
	names, err := pg.Collect(ctx, s.db.Pool, pgx.RowTo[string], `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'pawl.point'::regclass order by c.relname`)
	if err != nil {
		return nil, fmt.Errorf("cannot list the partitions: %w", err)
	}
	var months []time.Time
	for _, name := range names {
		if month, err := time.Parse("200601", strings.TrimPrefix(name, "point_")); err == nil {
			months = append(months, month)
		}
	}
	return months, nil
}

// yearsKept bounds how old points may be. Each month is a partition that every query must plan
// with, and a sender may claim any date for a commit.
const yearsKept = 10

// Oldest returns the time before which points are not stored.
func (s *Store) Oldest() time.Time { return s.db.Now().AddDate(-yearsKept, 0, 0) }

// MakeMonth creates the partition for a time, unless this process has seen that it exists.
func (s *Store) MakeMonth(ctx context.Context, at time.Time) error {
	month := monthOf(at)
	if _, ok := s.months.One(month); ok {
		return nil
	}
	_, err := s.db.Pool.Exec(ctx, `select pawl.make_partition($1)`, month)
	if pg.Violates(err, "22008") {
		return &pg.InvalidError{What: fmt.Sprintf("points of %s are not stored: the time must be from 2000 to now", at.Format(time.DateOnly))}
	}
	if err != nil {
		return fmt.Errorf("cannot create the partition of %s: %w", month.Format("2006-01"), err)
	}
	failpoint.At("partition.made")
	s.months.Add(month, struct{}{})
	return nil
}

// ForgetMonth makes the next [Store.MakeMonth] of a time create its partition again. It may have been
// dropped: old months are mostly empty.
func (s *Store) ForgetMonth(at time.Time) { s.months.Forget(monthOf(at)) }

// LostPartition reports whether err means that a partition, old and empty, was dropped after this
// process saw it.
func LostPartition(err error) bool { return pg.Violates(err, "23514") }

func monthOf(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}
