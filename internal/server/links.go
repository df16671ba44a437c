package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// createdLink is the only response that ever contains a link.
type createdLink struct {
	store.Link
	URL string `json:"url"`
}

func (s *Server) postLink(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var in struct {
		Series  int64     `json:"series"`
		Name    string    `json:"name"`
		Expires time.Time `json:"expires"`
	}
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	switch {
	case in.Name == "" || len(in.Name) > 100 || !isText(in.Name):
		return badRequest("name: must be 1 to 100 bytes and say for whom the link is")
	case !in.Expires.After(s.now()) || in.Expires.After(s.now().Add(store.MaxLinkLife)):
		return badRequest("expires: must be in the future, at most 366 days from now")
	}
	v, err := s.viewer(r)
	if err != nil {
		return err
	}
	var made createdLink
	err = s.changeAudited(r, p, "link.create", func(on *store.Store) (map[string]string, error) {
		text, link, err := on.NewLink(r.Context(), p.ID, store.Link{Series: in.Series, Name: in.Name, Expires: in.Expires, CreatedBy: v.Name()})
		made = createdLink{link, s.url.JoinPath("s", text).String()}
		return map[string]string{"link": strconv.FormatInt(link.ID, 10), "series": strconv.FormatInt(in.Series, 10), "name": in.Name}, err
	})
	if errors.Is(err, store.ErrNotFound) {
		return problem(http.StatusNotFound, "not-found", "there is no such series")
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, made)
}

// admitLink returns the project and the series of a public link. All links that do not work look the same.
func (s *Server) admitLink(r *http.Request) (store.Project, store.Link, error) {
	link, err := s.store.LinkByText(r.Context(), r.PathValue("link"))
	var p store.Project
	if err == nil {
		p, err = s.store.ProjectByID(r.Context(), link.Project)
	}
	if errors.Is(err, store.ErrNotFound) {
		s.buckets.spend("ip "+requestInfoOf(r).from.String(), s.limits.PerAddress, failedLogin)
		return store.Project{}, store.Link{}, problem(http.StatusNotFound, "not-found", "the link is unknown, expired or revoked: ask the person who sent it for another")
	}
	if err != nil {
		return store.Project{}, store.Link{}, err
	}
	if wait, ok := s.buckets.take(projectBucket(p), s.limits.PerProject); !ok {
		return store.Project{}, store.Link{}, problem(http.StatusTooManyRequests, "rate", "too many requests for this project").after(wait)
	}
	return p, link, nil
}
