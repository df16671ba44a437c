package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Limits of an overview.
const (
	overviewRuns  = 20
	countedAtMost = 10_000
)

// Overview is the summary of a project.
type Overview struct {
	Since    time.Time        `json:"since"`
	Groups   []client.Group   `json:"groups"` // since Since, worst first, each with its largest events
	Moved    ChangeCounts     `json:"moved"`
	Open     int              `json:"open"` // groups with unreviewed events, of all time
	Series   int              `json:"series"`
	Runs     int              `json:"runs"` // received since Since
	Latest   []client.Run     `json:"latest"`
	Testbeds []client.Testbed `json:"testbeds"` // most recently used first; those used only by forks come last
	MaxCount int              `json:"capped"`   // upper limit of all counts
}

// ChangeCounts counts events since Since.
type ChangeCounts struct {
	Worse   int `json:"worse"`
	Better  int `json:"better"`
	Machine int `json:"machine"` // groups attributed to the machine
}

// Overview reads what changed since a time, and what the project contains. It reads events, and
// counts the rest up to a limit, so its cost does not grow with the number of series.
//
// Latest includes runs of forks only if withForks is set: anyone can create many of them.
func (s *Store) Overview(ctx context.Context, project int64, since time.Time, withForks bool) (Overview, error) {
	o := Overview{Since: since.UTC(), MaxCount: countedAtMost}
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		eventstore.QueueSummary(b, project, since, &o.Groups)
		capped := strconv.Itoa(countedAtMost)
		b.Queue(`select count(*) filter (where worse), count(*) filter (where not worse) from (
			select worse from pawl.event where project_id = $1 and at >= $2 limit `+capped+`) e`, project, since).
			QueryRow(func(row pgx.Row) error { return row.Scan(&o.Moved.Worse, &o.Moved.Better) })
		count := func(into *int, from string, args ...any) {
			b.Queue(`select count(*) from (select 1 from `+from+` limit `+capped+`) c`, args...).QueryRow(func(row pgx.Row) error { return row.Scan(into) })
		}
		count(&o.Moved.Machine, `pawl.event_group where project_id = $1 and at >= $2 and machine <> 0`, project, since)
		count(&o.Open, eventstore.OpenGroups, project)
		count(&o.Series, `pawl.series where project_id = $1 and excluded is null`, project)
		count(&o.Runs, `pawl.report where project_id = $1 and received >= $2`, project, since)
		pg.Queue(b, scanRun, &o.Latest, `select `+runColumns+` from pawl.report where project_id = $1 and (lane <> 2 or $2) order by id desc limit `+strconv.Itoa(overviewRuns), project, withForks)
		pg.Queue(b, scanTestbed, &o.Testbeds, `select `+testbedSelect+` where project_id = $1
			order by (select r.measured from pawl.report r where r.project_id = $1 and r.testbed_id = testbed.id and r.lane <> 2 order by r.measured desc limit 1) desc nulls last, id limit 100`, project)
	})
	if err != nil {
		return Overview{}, fmt.Errorf("cannot read the overview of project %d: %w", project, err)
	}
	return o, nil
}
