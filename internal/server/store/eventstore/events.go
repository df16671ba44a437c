// Package eventstore stores the changes that scans find in the histories of series, their groups, and what
// people decided about them. It gives scans the data they need, in one transaction, and marks news as told.
//
// The package must not know how a change is found, nor how a message is sent.
package eventstore

import (
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Store is the events of all projects.
type Store struct{ db *pg.DB }

// New returns the events of a database.
func New(db *pg.DB) *Store { return &Store{db} }

// Limits of a summary.
const (
	summaryGroups = 50
	summaryEvents = 5 // per group
)

// QueueSummary queries the groups since a time, worst first, each with its largest events.
func QueueSummary(b *pgx.Batch, project int64, since time.Time, into *[]client.Group) {
	worst := ` from pawl.event_group g where g.project_id = $1 and g.at >= $2 order by g.worst desc, g.id limit ` + strconv.Itoa(summaryGroups)
	pg.Queue(b, scanGroup, into, `select `+groupColumns+worst, project, since)
	b.Queue(largestEvents(`select g.id`+worst), project, since).Query(func(rows pgx.Rows) error {
		events, err := pgx.CollectRows(rows, scanEvent)
		distribute(*into, events)
		*into = slices.DeleteFunc(*into, func(g client.Group) bool { return len(g.Events) == 0 })
		return err
	})
}

// largestEvents returns the query of the largest events of groups. A query for their ids is given; $1 is the project.
func largestEvents(groups string) string {
	const size = `abs(e.after / nullif(e.before, 0) - 1) desc nulls last, e.id`
	return `select ` + eventSelect + ` where e.project_id = $1 and e.id in (
		select largest.id from (` + groups + `) top cross join lateral (
			select e.id from pawl.event e where e.project_id = $1 and e.group_id = top.id order by ` + size + ` limit ` + strconv.Itoa(summaryEvents) + `) largest)
		order by ` + size
}

// distribute adds events to their groups.
func distribute(groups []client.Group, events []client.Event) {
	for _, e := range events {
		if i := slices.IndexFunc(groups, func(g client.Group) bool { return g.ID == e.Group }); i >= 0 {
			groups[i].Events = append(groups[i].Events, e)
		}
	}
}
