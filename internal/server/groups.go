package server

import (
	"net/http"
	"strconv"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
)

var listGroups = paged("groups", (*store.Store).Groups, func(g client.Group) int64 { return g.ID },
	[]string{"since", "worse"}, func(q *queryReader, before int64, limit int) eventstore.GroupQuery {
		return eventstore.GroupQuery{Since: q.time("since"), Worse: q.oneOf("worse", "true", "false") == "true", Before: before, Limit: limit}
	})

type groupChange struct {
	From  client.EventState `json:"from"`
	State client.EventState `json:"state"`
	Note  *string           `json:"note"`
}

// patchGroup sets the state and note of all events of a group.
func (s *Server) patchGroup(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var change groupChange
	if err := readDocument(w, r, &change); err != nil {
		return err
	}
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	if err := s.changeGroup(r, p, id, change); err != nil {
		return err
	}
	group, err := s.store.Group(r.Context(), p.ID, id)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, group)
}

// changeGroup implements patchGroup and the form on the events page.
func (s *Server) changeGroup(r *http.Request, p store.Project, id int64, change groupChange) error {
	note := ""
	if change.Note != nil {
		note = *change.Note
	}
	if err := checkEventChange(change.State, note); err != nil {
		return err
	}
	if change.From != "" {
		if err := checkEventChange(change.From, ""); err != nil {
			return badRequest("from: want new, acknowledged, fixed or false-alarm, or nothing for every event of the group")
		}
	}
	if _, err := s.store.Group(r.Context(), p.ID, id); err != nil {
		return err
	}
	return s.changeAudited(r, p, "group.update", func(in *store.Store) (map[string]string, error) {
		n, err := in.ChangeGroup(r.Context(), p.ID, id, eventstore.GroupChange(change))
		if err != nil || n == 0 {
			return nil, err
		}
		return map[string]string{"group": strconv.FormatInt(id, 10), "events": strconv.Itoa(n), "from": string(change.From), "to": string(change.State)}, nil
	})
}
