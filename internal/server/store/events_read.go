package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
)

// EventQuery filters a list of events. The zero value matches all.
type EventQuery struct {
	State  client.EventState
	Series int64
	Group  int64
	Worse  bool      // only changes for the worse
	Since  time.Time // only events dated at or after it
	Before int64     // the last id of the previous page
	Limit  int
}

const eventSelect = `e.id, e.series_id, s.name, e.kind, e.worse, e.from_sha, e.to_sha, e.commits, e.since, e.at, e.before, e.after, e.p,
	s.testbed_id, s.owners, e.state, e.note, coalesce(e.group_id, 0), coalesce(g.machine, 0) <> 0, e.detected
	from pawl.event e join pawl.series s on s.project_id = e.project_id and s.id = e.series_id
	left join pawl.event_group g on g.project_id = e.project_id and g.id = e.group_id`

// Events lists events, most recently found first.
func (s *Store) Events(ctx context.Context, project int64, q EventQuery) ([]client.Event, error) {
	c := conditions{args: []any{project}}
	if q.State != "" {
		c.add("e.state = $%d", string(q.State))
	}
	if q.Series != 0 {
		c.add("e.series_id = $%d", q.Series)
	}
	if q.Group != 0 {
		c.add("e.group_id = $%d", q.Group)
	}
	if q.Worse {
		c.add("e.worse = $%d", true)
	}
	if !q.Since.IsZero() {
		c.add("e.at >= $%d", q.Since)
	}
	if q.Before != 0 {
		c.add("e.id < $%d", q.Before)
	}
	list, err := listOf(ctx, s, project, scanEvent, `select `+eventSelect+` where e.project_id = $1`+c.String()+` order by e.id desc limit `+limit(q.Limit), c.args...)
	if err != nil {
		return nil, fmt.Errorf("cannot list the events of project %d: %w", project, err)
	}
	return list, nil
}

// Event returns one event, or ErrNotFound.
func (s *Store) Event(ctx context.Context, project, id int64) (client.Event, error) {
	list, err := listOf(ctx, s, project, scanEvent, `select `+eventSelect+` where e.project_id = $1 and e.id = $2`, project, id)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return client.Event{}, fmt.Errorf("cannot read event %d of project %d: %w", id, project, err)
	}
	return list[0], nil
}

func scanEvent(row pgx.CollectableRow) (e client.Event, err error) {
	err = row.Scan(&e.ID, &e.Series, &e.Name, &e.Kind, &e.Worse, &e.From, &e.To, &e.Commits, &e.Since, &e.At, &e.Before, &e.After, &e.P,
		&e.Testbed, &e.Owners, &e.State, &e.Note, &e.Group, &e.Machine, &e.Detected)
	e.Since, e.At, e.Detected = e.Since.UTC(), e.At.UTC(), e.Detected.UTC()
	if e.Before != 0 {
		e.Change = e.After/e.Before - 1
	}
	return e, err
}

// GroupQuery filters a list of groups. The zero value matches all.
type GroupQuery struct {
	Since  time.Time // only groups dated at or after it
	Worse  bool      // only groups in which something got worse
	Before int64     // the last id of the previous page
	Limit  int
}

const groupSelect = `g.id, g.from_sha, g.to_sha, g.at, g.worst, g.series, g.worse, g.machine from pawl.event_group g`

// Groups lists groups without their events, most recently found first.
func (s *Store) Groups(ctx context.Context, project int64, q GroupQuery) ([]client.Group, error) {
	c := conditions{args: []any{project}}
	if !q.Since.IsZero() {
		c.add("g.at >= $%d", q.Since)
	}
	if q.Worse {
		c.add("g.worse > $%d", 0)
	}
	if q.Before != 0 {
		c.add("g.id < $%d", q.Before)
	}
	list, err := listOf(ctx, s, project, scanGroup, `select `+groupSelect+` where g.project_id = $1`+c.String()+` order by g.id desc limit `+limit(q.Limit), c.args...)
	if err != nil {
		return nil, fmt.Errorf("cannot list the event groups of project %d: %w", project, err)
	}
	return list, nil
}

// Group returns one group with its events, largest change first.
func (s *Store) Group(ctx context.Context, project, id int64) (client.Group, error) {
	var groups []client.Group
	var events []client.Event
	err := s.readBatch(ctx, project, func(b *pgx.Batch) {
		queueList(b, scanGroup, &groups, `select `+groupSelect+` where g.project_id = $1 and g.id = $2`, project, id)
		queueList(b, scanEvent, &events, `select `+eventSelect+` where e.project_id = $1 and e.group_id = $2
			order by abs(ln(e.after / e.before)) desc, e.id limit `+limit(0), project, id)
	})
	if err == nil && len(groups) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return client.Group{}, fmt.Errorf("cannot read group %d of project %d: %w", id, project, err)
	}
	groups[0].Events = events
	return groups[0], nil
}

func scanGroup(row pgx.CollectableRow) (g client.Group, err error) {
	var worst float32
	err = row.Scan(&g.ID, &g.From, &g.To, &g.At, &worst, &g.Series, &g.Worse, &g.Testbed)
	g.At, g.Worst, g.Machine = g.At.UTC(), float64(worst), g.Testbed != 0
	return g, err
}
