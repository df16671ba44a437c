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

// conditions are what narrows a list, joined by and. Values go by number, never by text.
type conditions struct {
	text strings.Builder
	args []any
}

// add takes a condition with %d where the number of its value belongs.
func (c *conditions) add(format string, value any) {
	c.args = append(c.args, value)
	c.text.WriteString(" and ")
	fmt.Fprintf(&c.text, format, len(c.args))
}

func (c *conditions) String() string { return c.text.String() }

// limit bounds what a caller asks for.
func limit(asked int) string {
	if asked <= 0 || asked > MostListed {
		asked = MostListed
	}
	return strconv.Itoa(asked)
}

// lanes in the order of their numbers in the database.
var lanes = [...]client.Lane{client.Main, client.Branch, client.Fork}

func laneNumber(lane client.Lane) (int16, error) {
	for n, l := range lanes {
		if l == lane {
			return int16(n), nil
		}
	}
	return 0, fmt.Errorf("there is no lane %q: it is main, branch or fork", lane)
}

func laneName(n int16) client.Lane {
	if n < 0 || int(n) >= len(lanes) {
		return client.Fork // what is not known is not believed
	}
	return lanes[n]
}

// timeOr is a time that may be null.
func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
