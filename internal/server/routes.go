package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Route is one operation of the API, and the right it needs.
type Route struct {
	Method, Path string
	Need         Right
	pace         pace
	serve        handler
}

type handler func(*Server, http.ResponseWriter, *http.Request, store.Project) error

// pace is whether a response has a time limit or lasts as long as its bytes need.
type pace bool

const (
	quick pace = false
	long  pace = true
)

// project is the path prefix of everything in a project.
const project = "/v1/projects/{project}"

// routes is the whole API. openapi.yaml describes the same routes, and a test compares them.
var routes = []Route{
	{"GET", "/v1/openapi.yaml", AnyCaller, quick, (*Server).getContract},
	{"GET", "/v1/projects", AnyCaller, quick, (*Server).getProjects},
	{"GET", project, Read, quick, (*Server).getProject},
	{"PATCH", project, Admin, quick, (*Server).patchProject},
	{"DELETE", project, Admin, long, (*Server).deleteProject},

	{"HEAD", project + "/blobs/{digest}", Send, quick, (*Server).headBlob},
	{"GET", project + "/blobs/{digest}", Read, long, (*Server).getBlob},
	{"POST", project + "/blobs/{digest}", Send, long, (*Server).postBlob},
	{"POST", project + "/reports", Send, long, (*Server).postReport},

	{"POST", project + "/live/{run}", Send, quick, (*Server).postLive},
	{"GET", project + "/live", Read, quick, (*Server).listLive},
	{"GET", project + "/live/{run}", Read, quick, (*Server).getLive},
	{"GET", project + "/live/{run}/events", Read, long, (*Server).streamLive},

	{"GET", project + "/series", Read, quick, listSeries},
	{"GET", project + "/series/{id}", Read, quick, one((*store.Store).SeriesByID)},
	{"GET", project + "/series/{id}/points", Read, quick, (*Server).getPoints},
	{"GET", project + "/runs", Read, quick, listRuns},
	{"GET", project + "/runs/{id}", Read, quick, one((*store.Store).Run)},
	{"GET", project + "/runs/{id}/points", Read, quick, (*Server).getRunPoints},
	{"GET", project + "/runs/{id}/record", Read, long, (*Server).getRecord},
	{"DELETE", project + "/runs/{id}", Admin, quick, change((*store.Store).DeleteRun)},
	{"POST", project + "/runs/{id}/exclude", Admin, quick, exclude((*store.Store).ExcludeRun)},
	{"POST", project + "/runs/{id}/restore", Admin, quick, change((*store.Store).RestoreRun)},
	{"DELETE", project + "/series/{id}", Admin, quick, change((*store.Store).DeleteSeries)},
	{"POST", project + "/series/{id}/exclude", Admin, quick, exclude((*store.Store).ExcludeSeries)},
	{"POST", project + "/series/{id}/restore", Admin, quick, change((*store.Store).RestoreSeries)},
	{"GET", project + "/excluded/runs", Admin, quick, all((*store.Store).ExcludedRuns, same)},
	{"GET", project + "/excluded/series", Admin, quick, all((*store.Store).ExcludedSeries, same)},
	{"GET", project + "/limits", Admin, quick, (*Server).getLimits},
	{"GET", project + "/testbeds", Read, quick, all((*store.Store).Testbeds, same)},
	{"GET", project + "/testbeds/{id}", Read, quick, one((*store.Store).Testbed)},
	{"GET", project + "/testbeds/{id}/history", Read, quick, (*Server).getTestbedHistory},
	{"GET", project + "/suites/{suite}/heat", Read, quick, (*Server).getHeat},
	{"GET", project + "/events", Read, quick, listEvents},
	{"GET", project + "/events/{id}", Read, quick, (*Server).getEvent},
	{"PATCH", project + "/events/{id}", Write, quick, (*Server).patchEvent},
	{"GET", project + "/groups", Read, quick, listGroups},
	{"GET", project + "/groups/{id}", Read, quick, one((*store.Store).Group)},
	{"PATCH", project + "/groups/{id}", Write, quick, (*Server).patchGroup},
	{"GET", project + "/export", Admin, long, (*Server).export},

	{"GET", project + "/fleet", Read, quick, (*Server).getFleet},
	{"PUT", project + "/gates/{gate}", Send, quick, (*Server).putGate},
	{"GET", project + "/gates/{gate}", Read, quick, (*Server).getGate},
	{"DELETE", project + "/gates/{gate}", Send, quick, (*Server).deleteGate},
	{"POST", project + "/deliveries", AnyCaller, quick, (*Server).postDelivery},

	{"GET", project + "/keys", Admin, quick, all((*store.Store).Keys, same)},
	{"POST", project + "/keys", Admin, quick, (*Server).postKey},
	{"DELETE", project + "/keys/{id}", Admin, quick, remove("id", "key", (*store.Store).RevokeKey)},
	{"GET", project + "/links", Admin, quick, all((*store.Store).Links, same)},
	{"POST", project + "/links", Admin, quick, (*Server).postLink},
	{"DELETE", project + "/links/{id}", Admin, quick, remove("id", "link", (*store.Store).RevokeLink)},
	{"GET", project + "/members", Admin, quick, all((*store.Store).Members, memberOf)},
	{"POST", project + "/members", Admin, quick, (*Server).postMember},
	{"PUT", project + "/members/{account}", Admin, quick, (*Server).putMember},
	{"DELETE", project + "/members/{account}", Admin, quick, remove("account", "member", (*store.Store).RemoveMember)},
	{"GET", project + "/rules", Admin, quick, all((*store.Store).Rules, tellRule)},
	{"POST", project + "/rules", Admin, quick, (*Server).postRule},
	{"DELETE", project + "/rules/{id}", Admin, quick, remove("id", "rule", (*store.Store).RemoveRule)},
	{"GET", project + "/hooks", Admin, quick, all((*store.Store).Hooks, shownHook)},
	{"POST", project + "/hooks", Admin, quick, (*Server).postHook},
	{"DELETE", project + "/hooks/{id}", Admin, quick, remove("id", "hook", (*store.Store).RemoveHook)},
	{"GET", project + "/audit", Admin, quick, (*Server).listAudit},
}

// handle finds the project of a request and checks the caller's right before it calls the route's handler.
// The sender of a Send route is authenticated here too, and kept in the requestInfo.
func (s *Server) handle(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := requestInfoOf(r)
		info.route = route.Path
		if route.pace == quick {
			ctx, cancel := context.WithTimeout(r.Context(), s.limits.Request)
			defer cancel()
			r = r.WithContext(ctx)
		} else {
			readAnyTime(w)
		}
		var p store.Project
		var err error
		switch route.Need {
		case AnyCaller:
		case Send:
			if info.sender, err = s.senderOf(r); err == nil {
				p = info.sender.project
			}
		default:
			p, err = s.admit(r, route.Need)
		}
		if err == nil && route.pace == quick {
			err = s.takeTurn(r, p.ID)
		}
		if err == nil {
			defer info.endTurn()
			err = route.serve(s, w, r, p)
		}
		if err != nil {
			s.refuse(w, r, err)
		} else {
			s.noteOutage(r.Context(), nil, route.Need == Send)
		}
	})
}

// one serves the object whose number is in the path.
func one[T any](get func(s *store.Store, ctx context.Context, project, id int64) (T, error)) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		id, err := idOf(r, "id")
		if err != nil {
			return err
		}
		object, err := get(s.store, r.Context(), p.ID, id)
		if err != nil {
			return err
		}
		return show(w, r, object)
	}
}

// all serves a list as one page, each object as shown by the API. It is for lists that people create by
// hand and that stay short.
func all[T, A any](list func(s *store.Store, ctx context.Context, project int64) ([]T, error), shown func(T) A) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		objects, err := list(s.store, r.Context(), p.ID)
		if err != nil {
			return err
		}
		var answers []A
		for _, object := range objects {
			answers = append(answers, shown(object))
		}
		return show(w, r, onePage(answers))
	}
}

// paged serves a list page by page. want makes the query of a page from its filters and its start.
func paged[T, Q any](list string, find func(s *store.Store, ctx context.Context, project int64, want Q) ([]T, error), id func(T) int64,
	filters []string, want func(q *queryReader, start int64, limit int) Q,
) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		q := ask(r, append(filters, "cursor", "limit")...)
		limit := q.limit()
		query := want(q, q.cursor(list), limit+1)
		if q.err != nil {
			return q.err
		}
		found, err := find(s.store, r.Context(), p.ID, query)
		if err != nil {
			return err
		}
		return show(w, r, pageOf(list, found, limit, id))
	}
}

func same[T any](object T) T { return object }

// remove deletes the object whose number is in the path.
func remove(part, what string, do func(in *store.Store, ctx context.Context, project, id int64) error) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request, p store.Project) error {
		if err := s.remove(r, p, part, what, do); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

func (s *Server) remove(r *http.Request, p store.Project, part, what string, do func(in *store.Store, ctx context.Context, project, id int64) error) error {
	id, err := idOf(r, part)
	if err != nil {
		return err
	}
	err = s.changeAudited(r, p, what+".remove", func(in *store.Store) (map[string]string, error) {
		return map[string]string{what: strconv.FormatInt(id, 10)}, do(in, r.Context(), p.ID, id)
	})
	if errors.Is(err, store.ErrNotFound) {
		return problem(http.StatusNotFound, "not-found", "there is no such %s", what)
	}
	return err
}
