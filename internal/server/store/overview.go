package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
)

// Limits of an overview.
const (
	overviewGroups = 50
	overviewEvents = 5 // per group
	overviewRuns   = 20
	countedAtMost  = 10_000
)

// Overview is the summary of a project.
type Overview struct {
	Since    time.Time        `json:"since"`
	Groups   []client.Group   `json:"groups"` // since Since, worst first, each with its largest events
	Moved    ChangeCounts     `json:"moved"`
	Open     int              `json:"open"` // unreviewed events of all time
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
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		queueGroups(b, project, since, &o.Groups)
		capped := strconv.Itoa(countedAtMost)
		b.Queue(`select count(*) filter (where worse), count(*) filter (where not worse) from (
			select worse from pawl.event where project_id = $1 and at >= $2 limit `+capped+`) e`, project, since).
			QueryRow(func(row pgx.Row) error { return row.Scan(&o.Moved.Worse, &o.Moved.Better) })
		count := func(into *int, from string, args ...any) {
			b.Queue(`select count(*) from (select 1 from `+from+` limit `+capped+`) c`, args...).QueryRow(func(row pgx.Row) error { return row.Scan(into) })
		}
		count(&o.Moved.Machine, `pawl.event_group where project_id = $1 and at >= $2 and machine <> 0`, project, since)
		count(&o.Open, `pawl.event where project_id = $1 and state = 'new'`, project)
		count(&o.Series, `pawl.series where project_id = $1`, project)
		count(&o.Runs, `pawl.report where project_id = $1 and received >= $2`, project, since)
		queueList(b, scanRun, &o.Latest, `select `+runColumns+` from pawl.report where project_id = $1 and (lane <> 2 or $2) order by id desc limit `+strconv.Itoa(overviewRuns), project, withForks)
		queueList(b, scanTestbed, &o.Testbeds, `select `+testbedSelect+` where project_id = $1
			order by (select r.measured from pawl.report r where r.project_id = $1 and r.testbed_id = testbed.id and r.lane <> 2 order by r.measured desc limit 1) desc nulls last, id limit 100`, project)
	})
	if err != nil {
		return Overview{}, fmt.Errorf("cannot read the overview of project %d: %w", project, err)
	}
	return o, nil
}

// queueGroups queries groups since a time, worst first, each with its largest events.
func queueGroups(b *pgx.Batch, project int64, since time.Time, into *[]client.Group) {
	sql := `with g as (
		select id, from_sha, to_sha, at, worst, series, worse, machine from pawl.event_group
		where project_id = $1 and at >= $2 order by worst desc, id limit ` + strconv.Itoa(overviewGroups) + `)
		select g.id, g.from_sha, g.to_sha, g.at, g.worst, g.series, g.worse, g.machine,
			e.id, e.series_id, s.name, e.kind, e.worse, e.from_sha, e.to_sha, e.commits, e.since, e.at, e.before, e.after, e.p, s.testbed_id, s.owners, e.state, e.note, e.detected
		from g cross join lateral (
			select * from pawl.event where project_id = $1 and group_id = g.id
			order by abs(after / nullif(before, 0) - 1) desc nulls last, id limit ` + strconv.Itoa(overviewEvents) + `) e
		join pawl.series s on s.project_id = $1 and s.id = e.series_id
		order by g.worst desc, g.id, abs(e.after / nullif(e.before, 0) - 1) desc nulls last, e.id`
	b.Queue(sql, project, since).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var g client.Group
			var e client.Event
			var worst float32
			if err := rows.Scan(&g.ID, &g.From, &g.To, &g.At, &worst, &g.Series, &g.Worse, &g.Testbed,
				&e.ID, &e.Series, &e.Name, &e.Kind, &e.Worse, &e.From, &e.To, &e.Commits, &e.Since, &e.At, &e.Before, &e.After, &e.P, &e.Testbed, &e.Owners, &e.State, &e.Note, &e.Detected); err != nil {
				return err
			}
			list := *into
			if len(list) == 0 || list[len(list)-1].ID != g.ID {
				g.At, g.Worst, g.Machine = g.At.UTC(), float64(worst), g.Testbed != 0
				list = append(list, g)
			}
			e.Group, e.Machine = g.ID, list[len(list)-1].Machine
			e.Since, e.At, e.Detected = e.Since.UTC(), e.At.UTC(), e.Detected.UTC()
			if e.Before != 0 {
				e.Change = e.After/e.Before - 1
			}
			list[len(list)-1].Events = append(list[len(list)-1].Events, e)
			*into = list
		}
		return rows.Err()
	})
}
