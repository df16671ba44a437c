package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// pageOfProject builds one page of a project that the user may read.
type pageOfProject func(s *Server, r *http.Request, p store.Project) (web.View, error)

// projectPages lists all pages of a project. Every choice on a page is in its query, so that every view has
// its own URL.
var projectPages = map[string]pageOfProject{
	"/p/{project}":                (*Server).overviewPage,
	"/p/{project}/series":         (*Server).seriesListPage,
	"/p/{project}/series/{id}":    (*Server).seriesPage,
	"/p/{project}/chart":          (*Server).chartPage,
	"/p/{project}/compare":        (*Server).comparePage,
	"/p/{project}/runs":           (*Server).runsPage,
	"/p/{project}/runs/{id}":      (*Server).runPage,
	"/p/{project}/live/{run}":     (*Server).livePage,
	"/p/{project}/testbeds/{id}":  (*Server).testbedPage,
	"/p/{project}/suites":         (*Server).heatPage,
	"/p/{project}/suites/{suite}": (*Server).heatPage,
	"/p/{project}/events":         (*Server).eventsPage,
	"/p/{project}/groups/{id}":    (*Server).causePage,
	"/p/{project}/settings":       (*Server).settingsPage,
	"/p/{project}/limits":         (*Server).limitsPage,
	"/p/{project}/fleet":          (*Server).fleetPage,
}

// formChange applies what a form submitted. It returns a view to show, or nil to return to the page of the form.
type formChange func(s *Server, r *http.Request, p store.Project) (web.View, error)

// forms lists the forms of a project, each with the right it needs.
var forms = map[string]struct {
	need   Right
	change formChange
}{
	"/p/{project}/events/{id}":                {Write, returning((*Server).changeEventByForm)},
	"/p/{project}/groups/{id}":                {Write, returning((*Server).changeGroupByForm)},
	"/p/{project}/settings/project":           {Admin, returning((*Server).changeProjectByForm)},
	"/p/{project}/settings/retention":         {Admin, returning((*Server).changeRetentionByForm)},
	"/p/{project}/settings/keys":              {Admin, (*Server).createKeyByForm},
	"/p/{project}/settings/keys/{id}":         {Admin, removeByForm("key", (*store.Store).RevokeKey)},
	"/p/{project}/settings/members":           {Admin, returning((*Server).addMemberByForm)},
	"/p/{project}/settings/members/{account}": {Admin, returning((*Server).changeMemberByForm)},
	"/p/{project}/settings/hooks":             {Admin, returning((*Server).addHookByForm)},
	"/p/{project}/settings/hooks/{id}":        {Admin, removeByForm("hook", (*store.Store).RemoveHook)},
}

// returning is a change after which the page of the form is shown again.
func returning(change func(s *Server, r *http.Request, p store.Project) error) formChange {
	return func(s *Server, r *http.Request, p store.Project) (web.View, error) { return nil, change(s, r, p) }
}

// pages registers the pages. Their errors go through s.refuse, like the API's; refusePage renders them.
func (s *Server) pages(mux *http.ServeMux) {
	mux.Handle("GET "+web.AssetPath, web.Assets())
	for path, view := range projectPages {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			var v web.View
			p, err := s.admit(r, Read)
			if err == nil {
				err = s.takeTurn(r, p.ID)
			}
			if err == nil {
				defer requestInfoOf(r).endTurn()
				v, err = view(s, r, p)
			}
			s.render(w, r, &p, v, err)
		})
	}
	for path, view := range map[string]func(r *http.Request) (web.View, error){"/{$}": s.projectsPage, "/search": s.searchPage, "/login": s.loginPage} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			v, err := view(r)
			s.render(w, r, nil, v, err)
		})
	}
	for path, form := range forms {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			p, err := s.admit(r, form.need)
			if err == nil {
				err = s.answerForm(w, r, p, form.change)
			}
			if err != nil {
				s.refuse(w, r, err)
			}
		})
	}
	s.shared(mux)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusNotFound, "not-found", "there is no such page"))
	})
}

// frame returns the data of the layout around every page.
func (s *Server) frame(r *http.Request, p *store.Project) web.Layout {
	f := web.Layout{CanLogin: s.login != nil, Fleet: s.fleet != nil, Path: r.URL.RequestURI()}
	if p != nil {
		f.Project = &p.Project
		f.IsAdmin, _ = s.may(r, *p, Admin) // without an answer the link is missing; the page itself checks the right
	}
	if c, err := r.Cookie("pawl_theme"); err == nil {
		f.Theme = c.Value
	}
	if v, err := s.viewer(r); err == nil && v.Account != nil {
		f.Visitor = v.Account.Name
	}
	if r.URL.Path == "/search" {
		f.Query = r.URL.Query().Get("q")
	}
	return f
}

// render writes a page, or the error.
func (s *Server) render(w http.ResponseWriter, r *http.Request, p *store.Project, v web.View, err error) {
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	var b bytes.Buffer
	if err := web.Render(&b, s.frame(r, p), v); err != nil {
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	body := b.Bytes()
	// Compression is safe here: a page contains no secret that its compressed size could reveal.
	if len(body) > 4<<10 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = packed(body)
	}
	_, _ = w.Write(body)
}

// gzipWriters pools gzip writers: creating one costs as much as compressing a page.
var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

func packed(body []byte) []byte {
	z, _ := gzipWriters.Get().(*gzip.Writer) // the pool holds only gzip writers
	defer gzipWriters.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	_, _ = z.Write(body) // a write to memory cannot fail
	_ = z.Close()
	return b.Bytes()
}

// refusePage renders a problem as a page.
func (s *Server) refusePage(w http.ResponseWriter, r *http.Request, p *Problem) {
	var b bytes.Buffer
	if err := web.Render(&b, s.frame(r, nil), web.Problem{Status: p.Status, Detail: p.Detail, Request: p.Request}); err != nil {
		http.Error(w, p.Title, p.Status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.Status)
	_, _ = w.Write(b.Bytes())
}

// choices reads the query of a page. It ignores unknown parameters, because other sites may add their own
// to a link.
func choices(r *http.Request, known ...string) *queryReader {
	asked := r.URL.Query()
	values := url.Values{}
	for _, name := range known {
		if v := asked.Get(name); v != "" && len(v) <= 1024 {
			values.Set(name, v)
		}
	}
	return &queryReader{values: values}
}

// next returns the URL of the next page of a list; empty at the end.
func next(r *http.Request, cursor string) string {
	if cursor == "" {
		return ""
	}
	q := r.URL.Query()
	q.Set("cursor", cursor)
	return "?" + q.Encode()
}
