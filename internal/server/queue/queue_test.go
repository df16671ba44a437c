package queue_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

// migrated is a database with a queue, and a connection of the role that pawld runs as.
func migrated(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	url := storetest.URL(t)
	if err := queue.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := conn.Exec(t.Context(), `set role pawl_app`); err != nil {
		t.Fatal(err)
	}
	return url, conn
}

func newQueue(t *testing.T, c queue.Config) *queue.Queue {
	t.Helper()
	q, err := queue.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// stop ends a queue with all the time it needs.
func stop(t *testing.T, q *queue.Queue) {
	t.Helper()
	if err := q.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestMigrateTogetherAndAgain(t *testing.T) {
	url := storetest.URL(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := queue.Migrate(t.Context(), url); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, conn := migrated(t)
	for _, sql := range []string{`delete from river.river_migration`, `drop table river.river_job`, `create table river.mine (id int)`} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("pawl_app may %s", sql)
		}
	}
}

// Every project of which a scan is requested is scanned, and many requests are few jobs. After Stop they are ignored.
func TestRequestScan_ManyRequestsAreFewJobs(t *testing.T) {
	url, conn := migrated(t)
	q := newQueue(t, queue.Config{URL: url, Pause: -1})
	var looked sync.Map
	if err := q.Start(t.Context(), queue.Workers{Look: func(_ context.Context, project int64) error { looked.Store(project, true); return nil }}); err != nil {
		t.Fatal(err)
	}
	const requests = 1000
	for n := range int64(requests) {
		q.RequestScan(t.Context(), 1+n%2)
	}
	await.True(t, "both projects to be looked at", func() bool {
		_, one := looked.Load(int64(1))
		_, two := looked.Load(int64(2))
		return one && two
	})
	stop(t, q)
	q.RequestScan(t.Context(), 3)
	var jobs int
	if err := conn.QueryRow(t.Context(), `select count(*) from river.river_job where kind = 'look'`).Scan(&jobs); err != nil || jobs < 2 || jobs > requests/2 {
		t.Errorf("%d jobs for %d requests: %v", jobs, requests, err)
	}
}

// Reports that arrive during a look cause exactly one more look, which starts after the
// last of them.
func TestManyNudgesAreFewLooks(t *testing.T) {
	url, conn := migrated(t)
	q := newQueue(t, queue.Config{URL: url, Pause: -1})
	jobs := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `select count(*) from river.river_job where kind = 'look'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var here, looks, dirty, seen atomic.Int64
	all := make(chan struct{})
	work := queue.Workers{Look: func(context.Context, int64) error {
		if here.Add(1) > 1 {
			t.Error("two look at one project")
		}
		defer here.Add(-1)
		looks.Add(1)
		seen.Store(dirty.Load())
		<-all // the first look lasts until all reports are there
		return nil
	}}
	if err := q.Start(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	const reports = 20
	for n := range reports {
		dirty.Add(1) // before the job can be seen
		q.RequestScan(t.Context(), 1)
		await.True(t, "the request to be a job", func() bool { return jobs() == n+1 })
		await.True(t, "the first look to begin", func() bool { return looks.Load() > 0 })
	}
	await.True(t, "all jobs but the first to end", func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Waiting == 0 && d.Running == 1
	})
	close(all)
	await.True(t, "a look at everything", func() bool { return seen.Load() == reports })
	await.True(t, "the queue to be empty", func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Waiting+d.Running+d.Failing == 0
	})
	stop(t, q)
	if n := looks.Load(); n != 2 {
		t.Errorf("%d looks for %d reports, want 2", n, reports)
	}
}

func TestLaterAgainAndNever(t *testing.T) {
	url, conn := migrated(t)
	q := newQueue(t, queue.Config{URL: url, Pause: -1})
	var looks, delivered, refused atomic.Int64
	told := time.Date(2026, 5, 1, 12, 0, 0, 123000, time.UTC)
	work := queue.Workers{
		Look: func(context.Context, int64) error {
			if looks.Add(1) == 1 {
				return queue.ErrRetryLater
			}
			return nil
		},
		Waiting: func(context.Context) ([]int64, []int64, error) { return nil, []int64{5}, nil },
		Tell: func(ctx context.Context, project int64, send queue.Send) error {
			return pgx.BeginFunc(ctx, connect(t, url), func(tx pgx.Tx) error {
				return errors.Join(send(ctx, tx, 8, told), send(ctx, tx, 9, told))
			})
		},
		Deliver: func(_ context.Context, project, hook int64, at time.Time) error {
			if project != 5 || !at.Equal(told) {
				t.Errorf("project %d, told %v", project, at)
			}
			if hook == 9 {
				refused.Add(1)
				return queue.ErrGiveUp
			}
			delivered.Add(1)
			return nil
		},
	}
	if err := q.Start(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	defer stop(t, q)
	q.RequestScan(t.Context(), 1)
	await.True(t, "a look at what was put off", func() bool { return looks.Load() >= 2 })
	await.True(t, "the sweep to deliver", func() bool { return delivered.Load() >= 1 && refused.Load() >= 1 })
	await.True(t, "what is refused to be given up", func() bool {
		var cancelled int64
		err := conn.QueryRow(t.Context(), `select count(*) from river.river_job where kind = 'deliver' and state = 'cancelled'`).Scan(&cancelled)
		return err == nil && cancelled >= 1
	})
	var text string
	if err := conn.QueryRow(t.Context(), `select args::text from river.river_job where kind = 'deliver' limit 1`).Scan(&text); err != nil || len(text) > 100 {
		t.Errorf("%v: a job holds more than names: %s", err, text)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// What was forgotten, because its job was lost with its process, is found by the sweep.
func TestSweep(t *testing.T) {
	url, _ := migrated(t)
	q := newQueue(t, queue.Config{URL: url, Pause: -1})
	var looked, compacted, parted, retained, collected, gated atomic.Int64
	work := queue.Workers{
		Look:       func(_ context.Context, project int64) error { looked.Store(project); return nil },
		Waiting:    func(context.Context) ([]int64, []int64, error) { return []int64{42}, nil, nil },
		Compact:    func(context.Context) error { compacted.Add(1); return nil },
		Partitions: func(context.Context) error { parted.Add(1); return nil },
		Retain:     func(context.Context) error { retained.Add(1); return nil },
		Collect:    func(context.Context) error { collected.Add(1); return errors.New("the bucket is away") },
		Gates:      func(context.Context) error { gated.Add(1); return nil },
	}
	if err := q.Start(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	defer stop(t, q)
	await.True(t, "a look at a forgotten project", func() bool { return looked.Load() == 42 })
	await.True(t, "every periodic job to run", func() bool {
		return compacted.Load() > 0 && parted.Load() > 0 && retained.Load() > 0 && collected.Load() > 0 && gated.Load() > 0
	})
}

func TestStopWaitsAndThenDoesNot(t *testing.T) {
	url, _ := migrated(t)
	for name, patient := range map[string]bool{"with time": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, queue.Config{URL: url, Pause: -1, Last: time.Minute})
			begun, end := make(chan bool, 1), make(chan bool)
			var finished, cut atomic.Bool
			look := func(ctx context.Context, _ int64) error {
				begun <- true
				select {
				case <-end:
					finished.Store(true)
				case <-ctx.Done():
					cut.Store(true)
				}
				return ctx.Err()
			}
			if err := q.Start(t.Context(), queue.Workers{Look: look}); err != nil {
				t.Fatal(err)
			}
			q.RequestScan(t.Context(), 1)
			<-begun
			if patient {
				time.AfterFunc(50*time.Millisecond, func() { close(end) })
				stop(t, q)
			} else {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if err := q.Stop(ctx); err != nil {
					t.Error(err)
				}
			}
			if finished.Load() != patient || cut.Load() == patient {
				t.Errorf("finished %v, cut off %v", finished.Load(), cut.Load())
			}
		})
	}
}
