package server

import (
	"errors"
	"net/http"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// livePage shows a running run, and links to its stored result.
func (s *Server) livePage(r *http.Request, p store.Project) (web.View, error) {
	run, err := s.liveOf(r, p)
	if err != nil {
		return nil, err
	}
	v := web.Live{LiveRun: run, Silent: s.now().Sub(run.LastSeen)}
	if run.State == "" || run.Run == "" {
		return v, nil
	}
	kept, err := s.store.RunByName(r.Context(), p.ID, run.Run)
	if errors.Is(err, store.ErrNotFound) {
		return v, nil // the report was not sent, or not yet
	}
	v.Kept = kept.ID
	return v, err
}
