package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// causesShown is the number of causes per page.
const causesShown = 40

// eventsPage shows causes without an answer; ?state= selects others, or all. ?order=worst shows the largest changes.
func (s *Server) eventsPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "state", "order", "cursor")
	state := q.oneOf("state", append([]string{"all"}, states...)...)
	switch state {
	case "":
		state = string(client.EventNew)
	case "all":
		state = ""
	}
	want := eventstore.GroupQuery{State: client.EventState(state), Worst: q.oneOf("order", "newest", "worst") == "worst", Before: q.cursor("groups"), Limit: causesShown + 1}
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	list, err := s.store.Groups(ctx, p.ID, want)
	if err != nil {
		return nil, err
	}
	part := pageOf("groups", list, causesShown, func(g client.Group) int64 { return g.ID })
	v := web.Events{State: want.State, States: eventStates(), Worst: want.Worst}
	if !want.Worst {
		v.Next = next(r, part.Next)
	}
	if v.Open, err = s.store.CountOpen(ctx, p.ID); err != nil {
		return nil, err
	}
	groups, err := s.store.AddLargest(ctx, p.ID, part.Items)
	if err != nil {
		return nil, err
	}
	beds, err := s.beds(ctx, p)
	if err != nil {
		return nil, err
	}
	if v.Causes, err = s.cards(ctx, p, groups, beds, cardPoints); err != nil {
		return nil, err
	}
	v.CanWrite, err = s.may(r, p, Write)
	return v, err
}

// causePage shows one group with all its series.
func (s *Server) causePage(r *http.Request, p store.Project) (web.View, error) {
	id, err := idOf(r, "id")
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	group, err := s.store.Group(ctx, p.ID, id)
	if err != nil {
		return nil, err
	}
	v := web.Cause{States: eventStates()}
	if v.Beds, err = s.beds(ctx, p); err != nil {
		return nil, err
	}
	cards, err := s.cards(ctx, p, []client.Group{group}, v.Beds, cardPoints)
	if err != nil {
		return nil, err
	}
	if len(cards) == 0 {
		return nil, problem(http.StatusNotFound, "not-found", "group %d has no events any more", id)
	}
	v.Card = cards[0]
	worst, err := s.store.SeriesByID(ctx, p.ID, v.Worst().Series)
	if err != nil {
		return nil, err
	}
	v.Unit = worst.Unit
	v.CanWrite, err = s.may(r, p, Write)
	return v, err
}

func eventStates() []client.EventState {
	list := make([]client.EventState, len(states))
	for i, one := range states {
		list[i] = client.EventState(one)
	}
	return list
}

// may reports whether the user has a right, for pages that offer more to those who have it.
func (s *Server) may(r *http.Request, p store.Project, right Right) (bool, error) {
	who, err := s.viewer(r)
	if err != nil {
		return false, err
	}
	rights, err := s.rights(r.Context(), who, p)
	return slices.Contains(rights, right), err
}

// answerForm applies a change submitted by a form. It renders the view that the change returns, or shows again the
// page that the form was on.
func (s *Server) answerForm(w http.ResponseWriter, r *http.Request, p store.Project, change formChange) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxDocument)
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	for _, values := range r.PostForm {
		if !isText(strings.Join(values, "")) {
			return badRequest("the form: a field is not valid text")
		}
	}
	view, err := change(s, r, p)
	if err != nil {
		return err
	}
	if view != nil {
		s.render(w, r, &p, view, nil)
		return nil
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
