package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

// Names of the tasks that must not wait behind hours of compaction.
const (
	sweep = "sweep"
	gates = "gates"
)

// maintenanceTasks returns the periodic tasks by name.
func (q *Queue) maintenanceTasks(w Workers) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"compact": w.Compact, "partitions": w.Partitions, "retain": w.Retain, "collect": w.Collect, gates: w.Gates,
	}
	if w.Waiting != nil {
		all[sweep] = func(ctx context.Context) error { return q.sweep(ctx, w) }
	}
	return all
}

// periodic schedules the tasks. One of several servers does this. Tasks run more often than needed, so
// that they also run on a server that is restarted every day.
func (q *Queue) periodic(w Workers) []*river.PeriodicJob {
	every := map[string]time.Duration{
		sweep: 30 * time.Second, gates: 5 * time.Minute, "compact": time.Hour, "partitions": 6 * time.Hour, "retain": 6 * time.Hour, "collect": 12 * time.Hour,
	}
	house := q.maintenanceTasks(w)
	var list []*river.PeriodicJob
	for _, what := range []string{sweep, gates, "partitions", "compact", "retain", "collect"} {
		if house[what] == nil {
			continue
		}
		queue := maintenanceQueue
		if what == sweep || what == gates {
			queue = tellQueue
		}
		list = append(list, river.NewPeriodicJob(river.PeriodicInterval(every[what]),
			func() (river.JobArgs, *river.InsertOpts) {
				return maintenanceArgs{What: what}, &river.InsertOpts{Queue: queue}
			},
			&river.PeriodicJobOpts{ID: what, RunOnStart: true}))
	}
	return list
}

// sweep finds work that has no job, because a process was killed or a job was lost.
func (q *Queue) sweep(ctx context.Context, w Workers) error {
	look, tell, err := w.Waiting(ctx)
	if err != nil {
		return fmt.Errorf("cannot check projects for forgotten work: %w", err)
	}
	failpoint.At("queue.swept")
	var jobs []river.InsertManyParams
	for _, p := range look {
		jobs = append(jobs, river.InsertManyParams{Args: scanArgs{Project: p}})
	}
	for _, p := range tell {
		jobs = append(jobs, river.InsertManyParams{Args: notifyArgs{Project: p}})
	}
	if len(jobs) == 0 {
		return nil
	}
	if _, err := q.insert.InsertMany(ctx, jobs); err != nil {
		return fmt.Errorf("cannot queue forgotten work: %w", err)
	}
	return nil
}
