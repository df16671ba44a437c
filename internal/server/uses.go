package server

import (
	"net/http"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// getLimits shows every limit of a project and its use.
func (s *Server) getLimits(w http.ResponseWriter, r *http.Request, p store.Project) error {
	list, err := s.uses(r, p)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, onePage(list))
}

// uses returns the limits of a project: of what it can create, then of the load it can cause. The use of the
// latter is that of this server now.
func (s *Server) uses(r *http.Request, p store.Project) ([]store.Use, error) {
	list, err := s.store.Uses(r.Context(), p)
	if err != nil {
		return nil, err
	}
	v, err := s.viewer(r)
	if err != nil {
		return nil, err
	}
	rate := func(name, bucket string, limit Rate) store.Use {
		left := s.buckets.of(bucket, limit).TokensAt(s.now())
		return store.Use{Name: name, Limit: int64(limit.Burst), Used: max(0, int64(limit.Burst)-int64(left))}
	}
	for _, b := range []struct {
		name   string
		budget *projectBudget
	}{
		{"queries and pages at once", s.turns},
		{"reports stored at once", s.ingests},
		{"bytes of reports being received", s.bodies},
		{"files received at once", s.uploads},
		{"records unpacked at once", s.records},
		{"bytes of records being sent", s.packed},
		{"exports at once", s.exports},
	} {
		list = append(list, store.Use{Name: b.name, Limit: b.budget.most, Used: b.budget.used(p.ID)})
	}
	return append(list,
		rate("requests for this project", projectBucket(p), s.limits.PerProject),
		rate("your requests", v.bucket(), s.limits.PerKey),
		rate("requests from your address", "ip "+requestInfoOf(r).from.String(), s.limits.PerAddress),
	), nil
}

// limitsPage is getLimits as a page, for admins of the project.
func (s *Server) limitsPage(r *http.Request, p store.Project) (web.View, error) {
	if err := s.wantAdmin(r, p); err != nil {
		return nil, err
	}
	list, err := s.uses(r, p)
	var view web.Limits
	for _, u := range list {
		view.List = append(view.List, web.Limit(u))
	}
	return view, err
}
