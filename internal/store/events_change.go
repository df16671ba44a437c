package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/client"
)

// ErrChanged says that something is not any more as the caller saw it.
var ErrChanged = errors.New("it was changed meanwhile")

// ChangeEvent says what people made of an event, if nobody said something else since the
// caller read it: two people who look at one event must not overwrite each other.
func (s *Store) ChangeEvent(ctx context.Context, project int64, was client.Event, state client.EventState, note string) error {
	tag, err := s.of(project).Exec(ctx, `update pawl.event set state = $3, note = $4
		where project_id = $1 and id = $2 and state = $5 and note = $6`, project, was.ID, string(state), note, string(was.State), was.Note)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrChanged
	}
	if err != nil {
		return fmt.Errorf("saying what became of event %d of project %d: %w", was.ID, project, err)
	}
	return nil
}

// GroupChange is what people made of everything that moved together. Only events in state
// From are meant, where it is given: what others said of some of them stays. A note that
// is nil leaves every event its own.
type GroupChange struct {
	From, State client.EventState
	Note        *string
}

// ChangeGroup says it of the events of a group, all or none, and tells of how many.
func (s *Store) ChangeGroup(ctx context.Context, project, group int64, c GroupChange) (int, error) {
	tag, err := s.of(project).Exec(ctx, `update pawl.event set state = $3, note = coalesce($4, note)
		where project_id = $1 and group_id = $2 and ($5 = '' or state = $5)`, project, group, string(c.State), c.Note, string(c.From))
	if err != nil {
		return 0, fmt.Errorf("saying what became of group %d of project %d: %w", group, project, err)
	}
	return int(tag.RowsAffected()), nil
}
