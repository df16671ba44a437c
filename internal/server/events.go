package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
)

var states = []string{string(client.EventNew), string(client.EventAcknowledged), string(client.EventFixed), string(client.EventFalseAlarm)}

var listEvents = paged("events", (*store.Store).Events, func(e client.Event) int64 { return e.ID },
	[]string{"state", "series", "group", "worse", "since"}, func(q *queryReader, before int64, limit int) eventstore.Query {
		return eventstore.Query{
			State: client.EventState(q.oneOf("state", states...)), Series: q.id("series"), Group: q.id("group"), Worse: q.oneOf("worse", "true", "false") == "true",
			Since: q.time("since"), Before: before, Limit: limit,
		}
	})

func (s *Server) eventOf(r *http.Request, p store.Project) (client.Event, error) {
	id, err := idOf(r, "id")
	if err != nil {
		return client.Event{}, err
	}
	return s.store.Event(r.Context(), p.ID, id)
}

// eventTag covers only what people set on an event, not what the finder adds later, so that a user's
// change is not refused because of the finder.
func eventTag(e client.Event) string {
	return tag(fmt.Appendf(nil, "%d\n%s\n%s", e.ID, e.State, e.Note))
}

func (s *Server) getEvent(w http.ResponseWriter, r *http.Request, p store.Project) error {
	e, err := s.eventOf(r, p)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", eventTag(e))
	return answer(w, http.StatusOK, e)
}

type eventChange struct {
	State *client.EventState `json:"state"`
	Note  *string            `json:"note"`
}

// patchEvent sets the state and note of an event.
func (s *Server) patchEvent(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var change eventChange
	if err := readDocument(w, r, &change); err != nil {
		return err
	}
	e, err := s.eventOf(r, p)
	if err != nil {
		return err
	}
	if err := wantMatch(r, eventTag(e)); err != nil {
		return err
	}
	if e, err = s.changeEvent(r, p, e, change); err != nil {
		return err
	}
	w.Header().Set("ETag", eventTag(e))
	return answer(w, http.StatusOK, e)
}

// changeEvent implements patchEvent and the form on the events page.
func (s *Server) changeEvent(r *http.Request, p store.Project, e client.Event, change eventChange) (client.Event, error) {
	state, note := e.State, e.Note
	if change.State != nil {
		state = *change.State
	}
	if change.Note != nil {
		note = *change.Note
	}
	if err := checkEventChange(state, note); err != nil {
		return e, err
	}
	err := s.changeAudited(r, p, "event.update", func(in *store.Store) (map[string]string, error) {
		told := map[string]string{"event": strconv.FormatInt(e.ID, 10), "from": string(e.State), "to": string(state)}
		return told, in.ChangeEvent(r.Context(), p.ID, e, state, note)
	})
	if errors.Is(err, eventstore.ErrChanged) {
		return e, problem(http.StatusPreconditionFailed, "changed", "the event was changed meanwhile: read it again")
	}
	if err != nil {
		return e, err
	}
	e.State, e.Note = state, note
	return e, nil
}

// checkEventChange returns an error if an event cannot have this state and note.
func checkEventChange(state client.EventState, note string) error {
	if !slices.Contains(states, string(state)) {
		return badRequest("state: must be new, acknowledged, fixed or false-alarm")
	}
	if len(note) > client.MaxText || !isText(note) {
		return badRequest("note: must be at most %d bytes of text", client.MaxText)
	}
	return nil
}
