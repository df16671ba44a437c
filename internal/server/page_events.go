package server

import (
	"net/http"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// eventsShown is the number of events per page.
const eventsShown = 40

// eventsPage shows new events; ?state= selects other states, or all events.
func (s *Server) eventsPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "state", "cursor")
	state := q.oneOf("state", append([]string{"all"}, states...)...)
	switch state {
	case "":
		state = string(client.New)
	case "all":
		state = ""
	}
	want := eventstore.Query{State: client.EventState(state), Before: q.cursor("events"), Limit: eventsShown + 1}
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	list, err := s.store.Events(ctx, p.ID, want)
	if err != nil {
		return nil, err
	}
	part := pageOf("events", list, eventsShown, func(e client.Event) int64 { return e.ID })
	v := web.Events{State: want.State, List: part.Items, Next: next(r, part.Next)}
	for _, one := range states {
		v.States = append(v.States, client.EventState(one))
	}
	var shas []string
	for _, e := range v.List {
		shas = append(shas, e.To)
	}
	if v.Titles, err = s.titles(ctx, p, shas); err != nil {
		return nil, err
	}
	if v.Beds, err = s.beds(ctx, p); err != nil {
		return nil, err
	}
	who, err := s.viewer(r)
	if err != nil {
		return nil, err
	}
	rights, err := s.rights(ctx, who, p)
	v.CanWrite = slices.Contains(rights, Write)
	return v, err
}

// answerForm applies a change submitted by a form, and shows the list again.
func (s *Server) answerForm(w http.ResponseWriter, r *http.Request, p store.Project, change func(*Server, *http.Request, store.Project) error) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxDocument)
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	if err := change(s, r, p); err != nil {
		return err
	}
	back := ownPath(r.PostForm.Get("back"))
	if back == "/" {
		back = "/p/" + p.Slug + "/events"
	}
	http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // ownPath lets only our own pages through
	return nil
}

func (s *Server) changeEventByForm(r *http.Request, p store.Project) error {
	e, err := s.eventOf(r, p)
	if err != nil {
		return err
	}
	state, note := client.EventState(r.PostForm.Get("state")), r.PostForm.Get("note")
	_, err = s.changeEvent(r, p, e, eventChange{State: &state, Note: &note})
	return err
}

// changeGroupByForm keeps each event's own note if the form has none.
func (s *Server) changeGroupByForm(r *http.Request, p store.Project) error {
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	change := groupChange{From: client.EventState(r.PostForm.Get("from")), State: client.EventState(r.PostForm.Get("state"))}
	if note := r.PostForm.Get("note"); note != "" {
		change.Note = &note
	}
	return s.changeGroup(r, p, id, change)
}
