// Package queue does what a server does besides answering: look at what came in, tell
// people, keep house. River and its tables, in a schema of their own, are known here
// and nowhere else. A job is only a nudge: what there is to do stands in the store,
// so that a lost job costs time and a doubled one nothing.
//
// The package must not know what the work is: it is given functions.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// schema is where River's tables are, and role who may write them.
const (
	schema = "river"
	role   = "pawl_app"
)

// Config says where the queue is, and how eager.
type Config struct {
	URL   string
	Conns int // 0: enough for its workers
	Log   *slog.Logger
	// Pause is the shortest time between two looks at a project: reports that come
	// meanwhile are looked at together. 2 s if zero, none if negative.
	Pause time.Duration
	// Sweep is how often all projects are asked for what was forgotten, and for what there
	// is to tell. 30 s if zero.
	Sweep time.Duration
	// Last is how long what was cut off may take to end. 5 s if zero.
	Last time.Duration
	// Carry is where in a trace a report came in, as text that fits in a job, and Resume goes
	// on there when the job runs. Nil where nobody traces.
	Carry  func(ctx context.Context) string
	Resume func(ctx context.Context, job, carried string) (context.Context, func())
}

// Workers are the work. A function that is nil is never asked for.
type Workers struct {
	// Look looks at what came in for a project. ErrLater puts it off.
	Look func(ctx context.Context, project int64) error
	// Tell decides whether people of a project are to be told. It calls send for each hook,
	// in the transaction that remembers who was told of what.
	Tell func(ctx context.Context, project int64, send Send) error
	// Deliver sends one digest to one hook. An error makes it try again, later and later;
	// ErrNever gives it up.
	Deliver func(ctx context.Context, project, hook int64, told time.Time) error
	// Waiting names projects with something to look at, and with something to tell.
	Waiting func(ctx context.Context) (look, tell []int64, err error)

	Compact, Partitions, Retain, Collect func(ctx context.Context) error
}

// Send asks for the digest of a time to be delivered to a hook, if the transaction commits.
type Send func(ctx context.Context, tx pgx.Tx, hook int64, told time.Time) error

var (
	// ErrLater says that a job cannot be done right now, and that this is no fault.
	ErrLater = errors.New("later")
	// ErrNever says that a job cannot be done, however often it is tried.
	ErrNever = errors.New("never")
)

// Queue is work to be done. Its methods may be used by many at once.
type Queue struct {
	config Config
	pool   *pgxpool.Pool
	insert *river.Client[pgx.Tx] // only adds jobs
	work   *river.Client[pgx.Tx] // nil before Start
	looks  *looks
}

// New connects to the queue. Work is done between Start and Stop.
func New(ctx context.Context, c Config) (*Queue, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Pause == 0 {
		c.Pause = 2 * time.Second
	}
	if c.Sweep == 0 {
		c.Sweep = 30 * time.Second
	}
	conf, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of the queue's database: %w", err)
	}
	conf.MaxConns = 6 // River's own housekeeping; the work is done on the store's connections
	if c.Conns > 0 {
		conf.MaxConns = int32(min(c.Conns, 1000))
	}
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set role "+role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("connecting to the queue: %w", err)
	}
	insert, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema, Logger: c.Log})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening the queue: %w", err)
	}
	return &Queue{config: c, pool: pool, insert: insert, looks: newLooks(c.Pause)}, nil
}

// Enqueue says, in the transaction that keeps a report, that there is something to look
// at. Nothing is unique about the job: writers would wait for each other.
func (q *Queue) Enqueue(ctx context.Context, tx pgx.Tx, project, report int64) error {
	args := lookArgs{Project: project, Report: report}
	if q.config.Carry != nil {
		args.Trace = q.config.Carry(ctx)
	}
	if _, err := q.insert.InsertTx(ctx, tx, args, nil); err != nil {
		return fmt.Errorf("queueing a look at report %d: %w", report, err)
	}
	return nil
}

// Start begins to work. The context is that of all the work: Stop ends it in peace.
func (q *Queue) Start(ctx context.Context, w Workers) error {
	work, err := river.NewClient(riverpgxv5.New(q.pool), q.riverConfig(w))
	if err != nil {
		return fmt.Errorf("opening the queue to work: %w", err)
	}
	if err := work.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("starting to work: %w", err)
	}
	q.work = work
	return nil
}

// Stop lets what is under way end, and cuts off what has not ended when the context
// has. The queue cannot be used afterwards.
func (q *Queue) Stop(ctx context.Context) error {
	defer q.pool.Close()
	if q.work == nil {
		return nil
	}
	q.looks.hurry() // nobody waits for more reports
	err := q.work.Stop(ctx)
	if err != nil && ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(q.config.Last, 5*time.Second))
		defer cancel()
		err = q.work.StopAndCancel(last)
	}
	if err != nil {
		return fmt.Errorf("stopping work: %w", err)
	}
	return nil
}

// Depth is how much work there is.
type Depth struct {
	Waiting, Running, Failing int           // Failing ones will be tried again
	Oldest                    time.Duration // for how long the oldest of those that could run has waited
}

// Depth asks the database.
func (q *Queue) Depth(ctx context.Context) (Depth, error) {
	var d Depth
	var seconds float64
	err := q.pool.QueryRow(ctx, `select count(*) filter (where state = 'available'), count(*) filter (where state = 'running'),
		count(*) filter (where state = 'retryable'),
		coalesce(extract(epoch from now() - min(scheduled_at) filter (where state = 'available')), 0)::float8
		from river.river_job where state in ('available', 'running', 'retryable')`).Scan(&d.Waiting, &d.Running, &d.Failing, &seconds)
	if err != nil {
		return d, fmt.Errorf("counting the jobs of the queue: %w", err)
	}
	d.Oldest = max(0, time.Duration(seconds*float64(time.Second)))
	return d, nil
}
