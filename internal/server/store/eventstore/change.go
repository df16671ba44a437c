package eventstore

import (
	"context"
	"errors"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// ErrChanged means that the object was changed since the caller read it.
var ErrChanged = errors.New("it was changed meanwhile")

// ChangeEvent sets the state and note of an event, unless they changed since the caller read
// them. Two people working on one event must not overwrite each other.
func (s *Store) ChangeEvent(ctx context.Context, project int64, was client.Event, state client.EventState, note string) error {
	tag, err := s.db.Of(project).Exec(ctx, `update pawl.event set state = $3, note = $4
		where project_id = $1 and id = $2 and state = $5 and note = $6`, project, was.ID, string(state), note, string(was.State), was.Note)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrChanged
	}
	return pg.Wrap(err, "cannot change event %d of project %d", was.ID, project)
}

// GroupChange is a new state for all events of a group. If From is set, only events in that
// state change, and the decisions on others are kept. If Note is nil, every event keeps its note.
type GroupChange struct {
	From, State client.EventState
	Note        *string
}

// ChangeGroup applies c to the events of a group, all or none. It returns how many changed.
func (s *Store) ChangeGroup(ctx context.Context, project, group int64, c GroupChange) (int, error) {
	tag, err := s.db.Of(project).Exec(ctx, `update pawl.event set state = $3, note = coalesce($4, note)
		where project_id = $1 and group_id = $2 and ($5 = '' or state = $5)`, project, group, string(c.State), c.Note, string(c.From))
	return int(tag.RowsAffected()), pg.Wrap(err, "cannot change group %d of project %d", group, project)
}
