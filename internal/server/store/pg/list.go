package pg

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MaxListed is the maximum length of a list. The next page is requested with the last entry of the
// previous one.
const MaxListed = 1000

// List reads rows of one project in one round trip.
func List[T any](ctx context.Context, d *DB, project int64, scan pgx.RowToFunc[T], sql string, args ...any) (list []T, err error) {
	err = d.ReadBatch(ctx, project, func(b *pgx.Batch) { Queue(b, scan, &list, sql, args...) })
	return list, err
}

// One reads one row of a project, or returns [ErrNotFound].
func One[T any](ctx context.Context, d *DB, project int64, scan pgx.RowToFunc[T], sql string, args ...any) (one T, err error) {
	list, err := List(ctx, d, project, scan, sql, args...)
	if err != nil {
		return one, err
	}
	if len(list) == 0 {
		return one, ErrNotFound
	}
	return list[0], nil
}

// Querier is a transaction or a pool.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Collect reads all rows of a query.
func Collect[T any](ctx context.Context, q Querier, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// Pairs reads all rows of a query that returns a key and a value.
func Pairs[K comparable, V any](ctx context.Context, q Querier, sql string, args ...any) (map[K]V, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	all := map[K]V{}
	var key K
	var value V
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error { all[key] = value; return nil })
	return all, err
}

// Queue adds a list to a batch.
func Queue[T any](b *pgx.Batch, scan pgx.RowToFunc[T], into *[]T, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// Conditions builds the where clause of a list, joined by and. Values are passed as numbered
// parameters, never as text.
type Conditions struct {
	text strings.Builder
	Args []any
}

// Where adds a condition unless value is zero, which means any. The %d of the condition is replaced by
// the number of the value's parameter.
func Where[T comparable](c *Conditions, format string, value T) {
	var zero T
	if value == zero {
		return
	}
	c.Add(format, value)
}

// Add adds a condition for any value: see [Where].
func (c *Conditions) Add(format string, value any) {
	c.Args = append(c.Args, value)
	c.text.WriteString(" and ")
	fmt.Fprintf(&c.text, format, len(c.Args))
}

func (c *Conditions) String() string { return c.text.String() }

// Limit returns the requested limit as SQL, capped by [MaxListed]. 0 means the maximum.
func Limit(asked int) string {
	if asked <= 0 || asked > MaxListed {
		asked = MaxListed
	}
	return strconv.Itoa(asked)
}
