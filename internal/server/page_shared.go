package server

import (
	"net/http"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// embedBuckets is the resolution of a chart on another site.
const embedBuckets = 100

// picture draws a badge or a chart. series is 0 for the whole project.
type picture struct {
	framed bool // another site may show it in a frame
	draw   func(s *Server, r *http.Request, p store.Project, series int64) (svg string, err error)
}

var (
	badgePicture = picture{false, (*Server).drawBadge}
	chartPicture = picture{true, (*Server).drawChart}
)

// shared registers the pictures for other sites, and the pages of public links. A picture of a project needs the right to read,
// like its pages.
func (s *Server) shared(mux *http.ServeMux) {
	for path, pic := range map[string]picture{
		"/p/{project}/badge.svg": badgePicture, "/p/{project}/series/{id}/badge.svg": badgePicture, "/p/{project}/series/{id}/chart.svg": chartPicture,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			var series int64
			p, err := s.admit(r, Read)
			if err == nil && r.PathValue("id") != "" {
				series, err = idOf(r, "id")
			}
			s.servePicture(w, r, p, series, pic, err)
		})
	}
	for path, pic := range map[string]picture{"/s/{link}/badge.svg": badgePicture, "/s/{link}/chart.svg": chartPicture} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			p, link, err := s.admitLink(r)
			s.servePicture(w, r, p, link.Series, pic, err)
		})
	}
	mux.HandleFunc("GET /s/{link}", func(w http.ResponseWriter, r *http.Request) {
		requestInfoOf(r).route = "/s/{link}"
		var v web.View
		p, link, err := s.admitLink(r)
		if err == nil {
			err = s.takeTurn(r, p.ID)
		}
		if err == nil {
			defer requestInfoOf(r).endTurn()
			v, err = s.linkPage(r, p, link)
		}
		s.render(w, r, nil, v, err)
	})
}

// servePicture answers with an SVG. It may be shown on other sites, and contains no script.
func (s *Server) servePicture(w http.ResponseWriter, r *http.Request, p store.Project, series int64, pic picture, err error) {
	var svg string
	if err == nil {
		err = s.takeTurn(r, p.ID)
	}
	if err == nil {
		defer requestInfoOf(r).endTurn()
		svg, err = pic.draw(s, r, p, series)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	h, ancestors := w.Header(), "'none'"
	if pic.framed {
		ancestors = "*"
	}
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors "+ancestors)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if unchanged(w, r, tag([]byte(svg))) {
		return
	}
	h.Set("Content-Type", "image/svg+xml")
	_, _ = w.Write([]byte(svg))
}

// drawBadge says how many regressions have no answer yet: in a series, or in a project, where one cause counts once.
func (s *Server) drawBadge(r *http.Request, p store.Project, series int64) (string, error) {
	ctx := r.Context()
	if series != 0 {
		one, err := s.store.SeriesByID(ctx, p.ID, series)
		if err != nil {
			return "", err
		}
		open, err := s.store.Events(ctx, p.ID, eventstore.Query{Series: series, State: client.EventNew, Worse: true, Limit: listMost})
		return web.SeriesBadge(one, len(open)), err
	}
	open, err := s.store.Groups(ctx, p.ID, eventstore.GroupQuery{State: client.EventNew, Worse: true, Limit: listMost})
	open = slices.DeleteFunc(open, func(g client.Group) bool { return g.Machine })
	return web.ProjectBadge(len(open)), err
}

func (s *Server) drawChart(r *http.Request, p store.Project, series int64) (string, error) {
	one, err := s.store.SeriesByID(r.Context(), p.ID, series)
	if err != nil {
		return "", err
	}
	points, events, err := s.historyOf(r, p, series, embedBuckets)
	return web.EmbeddedChart(one, points, events), err
}

// historyOf reads the points of a series, thinned, and its changes, oldest first.
func (s *Server) historyOf(r *http.Request, p store.Project, series int64, buckets int) ([]client.StoredPoint, []client.Event, error) {
	points, err := s.store.Points(r.Context(), p.ID, series, pointstore.Range{Buckets: buckets})
	if err != nil {
		return nil, nil, err
	}
	events, err := s.store.Events(r.Context(), p.ID, eventstore.Query{Series: series, Limit: 200})
	slices.SortStableFunc(events, func(a, b client.Event) int { return a.At.Compare(b.At) })
	return points, events, err
}

// linkPage shows what a public link is for, and nothing else of the project.
func (s *Server) linkPage(r *http.Request, p store.Project, link store.Link) (web.View, error) {
	series, err := s.store.SeriesByID(r.Context(), p.ID, link.Series)
	if err != nil {
		return nil, err
	}
	bed, err := s.store.Testbed(r.Context(), p.ID, series.Testbed)
	if err != nil {
		return nil, err
	}
	points, events, err := s.historyOf(r, p, link.Series, bucketsShown)
	return web.Shared{Series: series, Bed: web.TestbedName(bed.Facts), Points: points, Events: events, Expires: link.Expires}, err
}
