package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/queue"
)

// A delivery that was under way when its server died is another's after ten minutes, and
// not only after the hours that keeping house may take; that is left alone meanwhile.
func TestADeadServersWorkIsTakenOver(t *testing.T) {
	url, conn := migrated(t)
	const running = `insert into river.river_job (kind, queue, state, attempt, attempted_at, attempted_by, max_attempts, args)
		values ($1, $2, 'running', 1, now() - interval '11 minutes', '{dead}', 9, $3)`
	for kind, job := range map[string][2]string{"deliver": {"tell", `{"project":1,"hook":2,"told":"2026-11-15T12:00:00Z"}`}, "house": {"house", `{"what":"compact"}`}} {
		if _, err := conn.Exec(t.Context(), running, kind, job[0], job[1]); err != nil {
			t.Fatal(err)
		}
	}
	q := newQueue(t, queue.Config{URL: url})
	defer stop(t, q)
	var delivered atomic.Int64
	err := q.Start(t.Context(), queue.Workers{Deliver: func(context.Context, int64, int64, time.Time) error {
		delivered.Add(1)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the delivery", func() bool { return delivered.Load() > 0 })
	var state string
	if err := conn.QueryRow(t.Context(), `select state from river.river_job where kind = 'house'`).Scan(&state); err != nil || state != "running" {
		t.Errorf("what may take hours was removed after minutes: it is %s (%v)", state, err)
	}
}
