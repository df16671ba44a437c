package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/identity"
	"github.com/goatnote-inc/pawl/internal/store"
)

// Right is what somebody may do in a project.
type Right int

// The rights.
const (
	Anybody Right = iota // no project is asked for
	Read                 // see everything but who has access
	Send                 // add reports; decided with the bytes, by the routes that take them
	Write                // say what became of an event
	Admin                // decide who has access, change and delete the project
)

func (r Right) String() string {
	return []string{"anybody", "read", "report", "write", "admin"}[r]
}

// Viewer is who asks: a person, a key, a job of CI that brought a token, or nobody.
type Viewer struct {
	Account  *store.Account
	Operator bool // an admin of the whole server, by the settings as they are now
	Key      *store.Key
	Token    identity.Token // of a job: worth nothing before it was held against the bytes it is for
}

// Name says who acted, in the log and in a project's audit: numbers and names, no secret.
func (v *Viewer) Name() string {
	switch {
	case v.Key != nil:
		return fmt.Sprintf("key %d", v.Key.ID)
	case v.Account != nil:
		return fmt.Sprintf("account %d", v.Account.ID)
	case !v.Token.IsZero():
		return "job"
	default:
		return "nobody"
	}
}

// nobody tells whether the visitor did not say who they are.
func (v *Viewer) nobody() bool { return v.Account == nil && v.Key == nil && v.Token.IsZero() }

// viewer finds out who asks, once a request. Credentials that are no good are an error,
// not nobody: whoever sends a revoked key must be told.
func (s *Server) viewer(r *http.Request) (*Viewer, error) {
	v := visitOf(r)
	if v.viewer == nil && v.unknown == nil {
		v.viewer, v.unknown = s.identify(r, v)
	}
	return v.viewer, v.unknown
}

func (s *Server) identify(r *http.Request, v *visit) (*Viewer, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, text, _ := strings.Cut(header, " ")
		text = strings.TrimSpace(text)
		switch {
		case !strings.EqualFold(scheme, "Bearer") || text == "" || len(text) > 16<<10:
			return nil, problem(http.StatusUnauthorized, "credentials", "Authorization: want Bearer and a key or a token")
		case !strings.HasPrefix(text, "pawl_"):
			return &Viewer{Token: identity.NewToken(text)}, nil
		}
		key, err := s.store.KeyOf(r.Context(), text)
		if errors.Is(err, store.ErrNotFound) {
			s.buckets.spend("ip "+v.from.String(), s.limits.PerAddress, failedLogin)
			return nil, problem(http.StatusUnauthorized, "key", "the key is unknown, expired or revoked: an admin of the project makes a new one")
		}
		if err != nil {
			return nil, err
		}
		return &Viewer{Key: &key}, nil
	}
	if cookie, err := r.Cookie(s.cookieName(sessionCookie)); err == nil && len(cookie.Value) <= 256 {
		account, err := s.store.Login(r.Context(), cookie.Value)
		if err == nil {
			return &Viewer{Account: &account, Operator: s.operates(account)}, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return &Viewer{}, nil // a login that is over is nobody: the page offers to log in again
}

// operates tells whether the settings name this person an admin of the server. It is asked
// at each request: who is taken off the list is none any more, however long a login lasts.
func (s *Server) operates(a store.Account) bool {
	return s.login != nil && a.Issuer == s.login.Issuer && named(s.login.Admins, a.Subject, a.Email)
}

// rights are what a viewer may do in a project. A job's token is not asked here.
func (s *Server) rights(ctx context.Context, v *Viewer, p store.Project) ([]Right, error) {
	var list []Right
	if p.Public {
		list = append(list, Read)
	}
	switch {
	case v.Key != nil && v.Key.Project == p.ID:
		for _, scope := range v.Key.Scopes {
			list = append(list, ofScope[scope]...)
		}
	case v.Account != nil:
		role := store.Admin
		if !v.Operator {
			var err error
			if role, err = s.store.RoleOf(ctx, p.ID, v.Account.ID); err != nil {
				return nil, err
			}
		}
		list = append(list, ofRole[role]...)
	}
	return list, nil
}

// ofScope and ofRole are the whole of who may do what. Reports come from keys and jobs
// only: a person's browser has nothing to report. A key that reports cannot read: it
// lies about in CI.
var (
	ofScope = map[store.Scope][]Right{
		store.ScopeRead:       {Read},
		store.ScopeReport:     {Send},
		store.ScopeReportMain: {Send},
		store.ScopeAdmin:      {Read, Send, Write, Admin},
	}
	ofRole = map[store.Role][]Right{
		store.Viewer: {Read},
		store.Writer: {Read, Write},
		store.Admin:  {Read, Write, Admin},
	}
)

// projectFor is the project of a request, if the visitor may do to it what is needed.
// Otherwise the answer was given: whoever has no right at all cannot tell a private
// project from none.
func (s *Server) projectFor(w http.ResponseWriter, r *http.Request, need Right) (store.Project, bool) {
	p, err := s.admit(r, need)
	if err != nil {
		s.refuse(w, r, err)
		return store.Project{}, false
	}
	return p, true
}

func (s *Server) admit(r *http.Request, need Right) (store.Project, error) {
	v, err := s.viewer(r)
	if err != nil {
		return store.Project{}, err
	}
	if !v.Token.IsZero() {
		return store.Project{}, problem(http.StatusUnauthorized, "token", "tokens of CI jobs send reports and nothing else: use a key")
	}
	p, err := s.store.Project(r.Context(), r.PathValue("project"))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.Project{}, err
	}
	var rights []Right
	if err == nil {
		if rights, err = s.rights(r.Context(), v, p); err != nil {
			return store.Project{}, err
		}
	}
	switch {
	case slices.Contains(rights, need):
		return p, s.spend(v, p)
	case v.nobody():
		return store.Project{}, problem(http.StatusUnauthorized, "credentials", "log in, or send a key with the scope %s: Authorization: Bearer pawl_...", need)
	case len(rights) == 0:
		return store.Project{}, problem(http.StatusNotFound, "not-found", "there is no such project, or you may not see it")
	default:
		return store.Project{}, problem(http.StatusForbidden, "forbidden", "%s may not do this: it takes the right %q in project %s", v.Name(), need, p.Slug)
	}
}

// spend counts a request against whoever makes it, and against the project.
func (s *Server) spend(v *Viewer, p store.Project) error {
	if !v.nobody() && v.Token.IsZero() {
		if wait, ok := s.buckets.take(v.bucket(), s.limits.PerKey); !ok {
			return problem(http.StatusTooManyRequests, "rate", "too many requests of %s", v.Name()).after(wait)
		}
	}
	if wait, ok := s.buckets.take(fmt.Sprint("project ", p.ID), s.limits.PerProject); !ok {
		return problem(http.StatusTooManyRequests, "rate", "too many requests for project %s", p.Slug).after(wait)
	}
	return nil
}

func (v *Viewer) bucket() string {
	if v.Key != nil {
		return fmt.Sprintf("key %d %d", v.Key.Project, v.Key.ID)
	}
	return v.Name()
}
