package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Every time limit of River is set here, not inherited. A job that still runs after jobTimeout is cut
// off. A job whose process died, or whose result could not be written because the database was down for
// too long, is given to another worker after rescueAfter. For long jobs that is after their own timeout.
// Until then nothing runs twice.
const (
	jobTimeout  = 5 * time.Minute
	longTimeout = 2 * time.Hour // compacting, collecting
	rescueAfter = 2 * jobTimeout
	keepDone    = 5 * time.Minute // short: a busy server completes hundreds per second
	keepFailed  = 7 * 24 * time.Hour

	lookAttempts    = 5 // the sweep finds the work again anyway
	deliverAttempts = 9 // over about two hours
	keepAttempts    = 1 // the next period retries
)

// Queues are separate so that slow background work does not delay urgent work.
const (
	scanQueue        = "look"
	tellQueue        = "tell"
	maintenanceQueue = "house"
)

// scanArgs requests a scan of a project. The trace is for following a report through the server.
type scanArgs struct {
	Project int64  `json:"project"`
	Trace   string `json:"trace,omitempty"`
}

func (scanArgs) Kind() string { return "look" }
func (scanArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: scanQueue, MaxAttempts: lookAttempts}
}

type notifyArgs struct {
	Project int64 `json:"project"`
}

func (notifyArgs) Kind() string { return "tell" }
func (notifyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: tellQueue, MaxAttempts: keepAttempts}
}

// deliverArgs identifies a digest without containing it: these tables have no row security.
type deliverArgs struct {
	Project int64     `json:"project"`
	Hook    int64     `json:"hook"`
	Told    time.Time `json:"told"`
}

func (deliverArgs) Kind() string { return "deliver" }
func (deliverArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: tellQueue, MaxAttempts: deliverAttempts}
}

// maintenanceArgs requests one of the maintenance tasks.
type maintenanceArgs struct {
	What string `json:"what"`
}

func (maintenanceArgs) Kind() string { return "house" }
func (maintenanceArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: maintenanceQueue, MaxAttempts: keepAttempts}
}

// riverConfig returns the complete configuration of River.
func (q *Queue) riverConfig(w Workers) *river.Config {
	return &river.Config{
		Schema:  schema,
		Logger:  q.config.Log,
		Workers: q.workers(w),
		Queues: map[string]river.QueueConfig{
			scanQueue:        {MaxWorkers: 16}, // most only signal a scan that is already running
			tellQueue:        {MaxWorkers: 4},
			maintenanceQueue: {MaxWorkers: 1}, // one task at a time: maintenance is not urgent
		},
		PeriodicJobs: q.periodic(w),

		JobTimeout:                  jobTimeout,
		RescueStuckJobsAfter:        rescueAfter,
		MaxAttempts:                 lookAttempts,
		FetchPollInterval:           time.Second,
		FetchCooldown:               100 * time.Millisecond,
		CompletedJobRetentionPeriod: keepDone,
		CancelledJobRetentionPeriod: keepFailed,
		DiscardedJobRetentionPeriod: keepFailed,
		ReindexerSchedule:           river.NeverSchedule(), // only the owner of an index may reindex
	}
}

func (q *Queue) workers(w Workers) *river.Workers {
	list := river.NewWorkers()
	river.AddWorker(list, river.WorkFunc(func(ctx context.Context, job *river.Job[scanArgs]) error {
		if w.Look == nil {
			return nil
		}
		if q.config.Resume != nil && job.Args.Trace != "" {
			var end func()
			ctx, end = q.config.Resume(ctx, "look", job.Args.Trace)
			defer end()
		}
		return outcome(q.looks.at(ctx, job.Args.Project, w.Look))
	}))
	river.AddWorker(list, river.WorkFunc(func(ctx context.Context, job *river.Job[notifyArgs]) error {
		if w.Tell == nil {
			return nil
		}
		project := job.Args.Project
		return outcome(w.Tell(ctx, project, func(ctx context.Context, tx pgx.Tx, hook int64, told time.Time) error {
			_, err := q.insert.InsertTx(ctx, tx, deliverArgs{Project: project, Hook: hook, Told: told}, nil)
			return err
		}))
	}))
	river.AddWorker(list, river.WorkFunc(func(ctx context.Context, job *river.Job[deliverArgs]) error {
		if w.Deliver == nil {
			return nil
		}
		return outcome(w.Deliver(ctx, job.Args.Project, job.Args.Hook, job.Args.Told))
	}))
	river.AddWorker(list, &maintenanceWorker{house: q.maintenanceTasks(w)})
	return list
}

// outcome converts an error to River's.
func outcome(err error) error {
	switch {
	case errors.Is(err, ErrRetryLater):
		return river.JobSnooze(time.Second)
	case errors.Is(err, ErrGiveUp):
		return river.JobCancel(err)
	default:
		return err
	}
}

// maintenanceWorker runs the maintenance tasks, which take long.
type maintenanceWorker struct {
	river.WorkerDefaults[maintenanceArgs]
	house map[string]func(context.Context) error
}

func (*maintenanceWorker) Timeout(*river.Job[maintenanceArgs]) time.Duration { return longTimeout }

func (h *maintenanceWorker) Work(ctx context.Context, job *river.Job[maintenanceArgs]) error {
	do := h.house[job.Args.What]
	if do == nil {
		return river.JobCancel(fmt.Errorf("unknown maintenance job %q", job.Args.What))
	}
	return outcome(do(ctx))
}
