package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
)

// listOf reads rows of one project in one round trip.
func listOf[T any](ctx context.Context, s *Store, project int64, scan pgx.RowToFunc[T], sql string, args ...any) (list []T, err error) {
	err = s.readBatch(ctx, project, func(b *pgx.Batch) { queueList(b, scan, &list, sql, args...) })
	return list, err
}

// queueList adds a list to a batch.
func queueList[T any](b *pgx.Batch, scan pgx.RowToFunc[T], into *[]T, sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// conditions builds the where clause of a list, joined by and. Values are passed as numbered
// parameters, never as text.
type conditions struct {
	text strings.Builder
	args []any
}

// add appends a condition. Its %d is replaced by the number of the value's parameter.
func (c *conditions) add(format string, value any) {
	c.args = append(c.args, value)
	c.text.WriteString(" and ")
	fmt.Fprintf(&c.text, format, len(c.args))
}

func (c *conditions) String() string { return c.text.String() }

// limit returns the requested limit, capped.
func limit(asked int) string {
	if asked <= 0 || asked > MaxListed {
		asked = MaxListed
	}
	return strconv.Itoa(asked)
}

// lanes lists the lanes in the order of their numbers in the database.
var lanes = [...]client.Lane{client.Main, client.Branch, client.Fork}

func laneNumber(lane client.Lane) (int16, error) {
	for n, l := range lanes {
		if l == lane {
			return int16(n), nil
		}
	}
	return 0, fmt.Errorf("unknown lane %q (known: main, branch, fork)", lane)
}

func laneName(n int16) client.Lane {
	if n < 0 || int(n) >= len(lanes) {
		return client.Fork // unknown lanes are not trusted
	}
	return lanes[n]
}

// timeOr returns a nullable time; null becomes zero.
func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
