// Package queue runs a server's background work: scans of new reports, notifications, and maintenance.
// Only this package knows River and its tables, which have their own schema. A job is only a signal:
// pending work is recorded in the store, so a lost job costs time and a duplicate costs nothing.
//
// The package must not know what the work is: it is given functions.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// schema holds River's tables.
const schema = "river"

// Connections is the maximum number of connections that a queue uses for River's own maintenance. The work
// itself uses the store's connections.
const Connections = 6

// Config says where the queue is and how often it runs.
type Config struct {
	URL string
	Log *slog.Logger
	// Pause is the minimum time between two scans of a project. Reports that arrive meanwhile are scanned
	// together. Zero means 2 s, negative means none.
	Pause time.Duration
	// Last is how long canceled work may take to end. Zero means 5 s.
	Last time.Duration
	// Carry returns the current position in a trace as text for a job, and Resume continues the trace when the
	// job runs. Both are nil without tracing.
	Carry  func(ctx context.Context) string
	Resume func(ctx context.Context, job, carried string) (context.Context, func())
}

// Workers holds the functions that do the work. A nil function is never called.
type Workers struct {
	// Look scans the new reports of a project. ErrRetryLater postpones it.
	Look func(ctx context.Context, project int64) error
	// Tell decides whether to notify a project. It calls send for each hook, in the transaction that records the
	// notification.
	Tell func(ctx context.Context, project int64, send Send) error
	// Deliver sends one digest to one hook. After an error it is retried at growing intervals; ErrGiveUp ends the
	// retries.
	Deliver func(ctx context.Context, project, hook int64, told time.Time) error
	// Waiting returns the projects with reports to scan, and those with news to send.
	Waiting func(ctx context.Context) (look, tell []int64, err error)

	Compact, Partitions, Retain, Collect func(ctx context.Context) error
	// Gates ends gates of the fleet whose workflow was lost.
	Gates func(ctx context.Context) error
}

// Send schedules the delivery of the digest of a time to a hook, if the transaction commits.
type Send func(ctx context.Context, tx pgx.Tx, hook int64, told time.Time) error

var (
	// ErrRetryLater means that a job cannot be done right now; it is not a failure.
	ErrRetryLater = errors.New("later")
	// ErrGiveUp means that a job cannot be done, however often it is tried.
	ErrGiveUp = errors.New("never")
)

// Queue schedules and runs jobs. Its methods are safe for concurrent use.
type Queue struct {
	config Config
	pool   *pgxpool.Pool
	insert *river.Client[pgx.Tx] // only adds jobs
	work   *river.Client[pgx.Tx] // nil before Start
	looks  *scanCoalescer

	mu        sync.Mutex
	requested map[int64]scanArgs // scans that have no job yet, by project; nil after Stop
}

// New connects to the queue. Jobs run between Start and Stop.
func New(ctx context.Context, c Config) (*Queue, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Pause == 0 {
		c.Pause = 2 * time.Second
	}
	conf, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the URL of the queue's database: %w", err)
	}
	conf.MaxConns = Connections
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set role "+pg.Role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the queue: %w", err)
	}
	insert, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema, Logger: c.Log})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot open the queue: %w", err)
	}
	return &Queue{config: c, pool: pool, insert: insert, looks: newLooks(c.Pause), requested: map[int64]scanArgs{}}, nil
}

// requestDelay is how long requests of scans are collected. A job costs as much as some points, so one covers many
// reports.
const requestDelay = 50 * time.Millisecond

// RequestScan makes a scan of a project start soon. Call it after the commit of what is to be scanned. It does not
// wait. A request that is lost, because the process or the database dies, costs time: the sweep finds the work.
func (q *Queue) RequestScan(ctx context.Context, project int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, already := q.requested[project]; already || q.requested == nil {
		return
	}
	args := scanArgs{Project: project}
	if q.config.Carry != nil {
		args.Trace = q.config.Carry(ctx)
	}
	q.requested[project] = args
	if len(q.requested) == 1 {
		later := context.WithoutCancel(ctx)
		time.AfterFunc(requestDelay, func() { q.insertRequested(later) })
	}
}

// insertRequested adds a job for each requested scan.
func (q *Queue) insertRequested(ctx context.Context) {
	q.mu.Lock()
	var jobs []river.InsertManyParams
	for _, args := range q.requested {
		jobs = append(jobs, river.InsertManyParams{Args: args})
	}
	clear(q.requested)
	q.mu.Unlock()
	if len(jobs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	if _, err := q.insert.InsertMany(ctx, jobs); err != nil {
		q.config.Log.WarnContext(ctx, "cannot queue scans; the next sweep does", "projects", len(jobs), "error", err)
	}
}

// Start starts the workers. All work runs under ctx; Stop ends it gracefully.
func (q *Queue) Start(ctx context.Context, w Workers) error {
	work, err := river.NewClient(riverpgxv5.New(q.pool), q.riverConfig(w))
	if err != nil {
		return fmt.Errorf("cannot create the queue's workers: %w", err)
	}
	if err := work.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("cannot start the queue's workers: %w", err)
	}
	q.work = work
	return nil
}

// Stop waits for running work and cancels what has not ended when ctx does. The queue cannot be used
// afterwards.
func (q *Queue) Stop(ctx context.Context) error {
	defer q.pool.Close()
	q.mu.Lock()
	q.requested = nil // the marks are found when a server starts
	q.mu.Unlock()
	if q.work == nil {
		return nil
	}
	q.looks.hurry() // do not wait for more reports
	err := q.work.Stop(ctx)
	if err != nil && ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(q.config.Last, 5*time.Second))
		defer cancel()
		err = q.work.StopAndCancel(last)
	}
	if err != nil {
		return fmt.Errorf("cannot stop the queue's workers: %w", err)
	}
	return nil
}

// Depth is the amount of queued work.
type Depth struct {
	Waiting, Running, Failing int           // Failing jobs will be retried
	Oldest                    time.Duration // how long the oldest runnable job has waited
}

// Depth queries the database for the amount of queued work.
func (q *Queue) Depth(ctx context.Context) (Depth, error) {
	var d Depth
	var seconds float64
	err := q.pool.QueryRow(ctx, `select count(*) filter (where state = 'available'), count(*) filter (where state = 'running'),
		count(*) filter (where state = 'retryable'),
		coalesce(extract(epoch from now() - min(scheduled_at) filter (where state = 'available')), 0)::float8
		from river.river_job where state in ('available', 'running', 'retryable')`).Scan(&d.Waiting, &d.Running, &d.Failing, &seconds)
	if err != nil {
		return d, fmt.Errorf("cannot count the jobs of the queue: %w", err)
	}
	d.Oldest = max(0, time.Duration(seconds*float64(time.Second)))
	return d, nil
}
