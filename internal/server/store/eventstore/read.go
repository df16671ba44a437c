package eventstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Query filters a list of events. The zero value matches all.
type Query struct {
	State  client.EventState
	Series int64
	Group  int64
	Worse  bool      // only changes for the worse
	Since  time.Time // only events dated at or after it
	Before int64     // the last id of the previous page
	Limit  int
}

// shownEvents joins events with their series, except those of excluded series.
const shownEvents = `pawl.event e join pawl.series s on s.project_id = e.project_id and s.id = e.series_id and s.excluded is null`

const eventSelect = `e.id, e.series_id, s.name, e.kind, e.worse, e.from_sha, e.to_sha, e.commits, e.since, e.at, e.before, e.after,
	s.testbed_id, s.owners, e.state, e.note, coalesce(e.group_id, 0), coalesce(g.machine, 0) <> 0, e.detected
	from ` + shownEvents + `
	left join pawl.event_group g on g.project_id = e.project_id and g.id = e.group_id`

// Events lists events, most recently found first.
func (s *Store) Events(ctx context.Context, project int64, q Query) ([]client.Event, error) {
	c := pg.Conditions{Args: []any{project}}
	pg.Where(&c, "e.state = $%d", q.State)
	pg.Where(&c, "e.series_id = $%d", q.Series)
	pg.Where(&c, "e.group_id = $%d", q.Group)
	pg.Where(&c, "e.worse = $%d", q.Worse)
	pg.Where(&c, "e.at >= $%d", q.Since)
	pg.Where(&c, "e.id < $%d", q.Before)
	list, err := pg.List(ctx, s.db, project, scanEvent, `select `+eventSelect+` where e.project_id = $1`+c.String()+` order by e.id desc limit `+pg.Limit(q.Limit), c.Args...)
	return list, pg.Wrap(err, "cannot list the events of project %d", project)
}

// Event returns one event, or [pg.ErrNotFound].
func (s *Store) Event(ctx context.Context, project, id int64) (client.Event, error) {
	e, err := pg.One(ctx, s.db, project, scanEvent, `select `+eventSelect+` where e.project_id = $1 and e.id = $2`, project, id)
	return e, pg.Wrap(err, "cannot read event %d of project %d", id, project)
}

func scanEvent(row pgx.CollectableRow) (e client.Event, err error) {
	err = row.Scan(&e.ID, &e.Series, &e.Name, &e.Kind, &e.Worse, &e.From, &e.To, &e.Commits, &e.Since, &e.At, &e.Before, &e.After,
		&e.Testbed, &e.Owners, &e.State, &e.Note, &e.Group, &e.Machine, &e.Detected)
	e.Since, e.At, e.Detected = e.Since.UTC(), e.At.UTC(), e.Detected.UTC()
	if e.Before != 0 {
		e.Change = e.After/e.Before - 1
	}
	return e, err
}

// GroupQuery filters a list of groups. The zero value matches all.
type GroupQuery struct {
	Since  time.Time         // only groups dated at or after it
	Worse  bool              // only groups in which something got worse
	State  client.EventState // only groups with an event in this state
	Worst  bool              // largest change first, without further pages
	Before int64             // the last id of the previous page
	Limit  int
}

const (
	groupColumns = `g.id, g.from_sha, g.to_sha, g.at, g.worst, g.series, g.worse, g.machine,
	(select count(*) from ` + shownEvents + ` where e.project_id = g.project_id and e.group_id = g.id and e.state = 'new')`
	groupSelect = groupColumns + ` from pawl.event_group g`
)

// Groups lists groups without their events, most recently found first.
func (s *Store) Groups(ctx context.Context, project int64, q GroupQuery) ([]client.Group, error) {
	c := pg.Conditions{Args: []any{project}}
	pg.Where(&c, "g.at >= $%d", q.Since)
	pg.Where(&c, "(g.worse > 0) = $%d", q.Worse)
	pg.Where(&c, "exists (select 1 from "+shownEvents+" where e.project_id = g.project_id and e.group_id = g.id and e.state = $%d)", q.State)
	pg.Where(&c, "g.id < $%d", q.Before)
	order := "g.id desc"
	if q.Worst {
		order = "g.worst desc, g.id desc"
	}
	list, err := pg.List(ctx, s.db, project, scanGroup, `select `+groupSelect+` where g.project_id = $1`+c.String()+` order by `+order+` limit `+pg.Limit(q.Limit), c.Args...)
	return list, pg.Wrap(err, "cannot list the event groups of project %d", project)
}

// CountOpen counts the groups with an event that has no answer, up to a limit.
func (s *Store) CountOpen(ctx context.Context, project int64) (int, error) {
	n, err := pg.One(ctx, s.db, project, pgx.RowTo[int], `select count(*) from (select 1 from `+OpenGroups+` limit 10000) g`, project)
	return n, pg.Wrap(err, "cannot count the open events of project %d", project)
}

// OpenGroups is a table of the groups of project $1 with an event that has no answer.
const OpenGroups = `(select distinct e.group_id from ` + shownEvents + ` where e.project_id = $1 and e.state = 'new' and e.group_id is not null) open_group`

// AddLargest adds their largest events to groups. Groups without events are left out.
func (s *Store) AddLargest(ctx context.Context, project int64, groups []client.Group) ([]client.Group, error) {
	ids := make([]int64, 0, len(groups))
	for _, g := range groups {
		ids = append(ids, g.ID)
	}
	events, err := pg.List(ctx, s.db, project, scanEvent, largestEvents(`select unnest($2::bigint[]) as id`), project, ids)
	distribute(groups, events)
	groups = slices.DeleteFunc(groups, func(g client.Group) bool { return len(g.Events) == 0 })
	return groups, pg.Wrap(err, "cannot read the events of groups of project %d", project)
}

// Group returns one group with its events, largest change first.
func (s *Store) Group(ctx context.Context, project, id int64) (client.Group, error) {
	var groups []client.Group
	var events []client.Event
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		pg.Queue(b, scanGroup, &groups, `select `+groupSelect+` where g.project_id = $1 and g.id = $2`, project, id)
		pg.Queue(b, scanEvent, &events, `select `+eventSelect+` where e.project_id = $1 and e.group_id = $2
			order by abs(ln(e.after / e.before)) desc, e.id limit `+pg.Limit(0), project, id)
	})
	if err == nil && len(groups) == 0 {
		err = pg.ErrNotFound
	}
	if err != nil {
		return client.Group{}, fmt.Errorf("cannot read group %d of project %d: %w", id, project, err)
	}
	groups[0].Events = events
	return groups[0], nil
}

func scanGroup(row pgx.CollectableRow) (g client.Group, err error) {
	var worst float32
	err = row.Scan(&g.ID, &g.From, &g.To, &g.At, &worst, &g.Series, &g.Worse, &g.Testbed, &g.New)
	g.At, g.Worst, g.Machine = g.At.UTC(), float64(worst), g.Testbed != 0
	return g, err
}
