package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// exclude takes a run or a series out of the history. The ledger in the repository is not the server's, and
// stays.
func exclude(do func(s *store.Store, ctx context.Context, project, id int64, actor, reason string) error) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		var in struct {
			Reason string `json:"reason"`
		}
		if err := readDocument(w, r, &in); err != nil {
			return err
		}
		if in.Reason == "" || !isText(in.Reason) {
			return badRequest("reason: must say why it does not count")
		}
		return s.changeHistory(w, r, func(id int64, actor string) error { return do(s.store, r.Context(), p.ID, id, actor, in.Reason) })
	}
}

// change restores an excluded run or series, or deletes its data for good.
func change(do func(s *store.Store, ctx context.Context, project, id int64, actor string) error) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		return s.changeHistory(w, r, func(id int64, actor string) error { return do(s.store, r.Context(), p.ID, id, actor) })
	}
}

// changeHistory applies a change to the run or series in the path and answers 204.
func (s *Server) changeHistory(w http.ResponseWriter, r *http.Request, change func(id int64, actor string) error) error {
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	v, err := s.viewer(r)
	if err != nil {
		return err
	}
	switch err := change(id, v.Name()); {
	case errors.Is(err, store.ErrDeleted):
		return problem(http.StatusGone, "deleted", "it was deleted and cannot be restored")
	case errors.Is(err, store.ErrNotFound) && r.Method == http.MethodDelete:
		return problem(http.StatusNotFound, "not-found", "nothing with this number is excluded: exclude it first")
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
