package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Right is a permission in a project.
type Right int

// The rights.
const (
	AnyCaller Right = iota // needs no project
	Read                   // see everything except the access list
	Send                   // add reports; a job's token is also checked against the bytes, by the handler
	Write                  // set the state of events
	Admin                  // control access, change and delete the project
)

func (r Right) String() string {
	return []string{"none", "read", "report", "write", "admin"}[r]
}

// Viewer is the caller: a person, a key, a CI job with a token, or anonymous.
type Viewer struct {
	Account  *store.Account
	Operator bool // an admin of the whole server, by the current settings
	Key      *store.Key
	Token    identity.Token // of a job; not valid until checked against the bytes it is for
}

// Name identifies the caller in the log and in a project's audit log. It contains no secret.
func (v *Viewer) Name() string {
	switch {
	case v.Key != nil:
		return fmt.Sprintf("key %d", v.Key.ID)
	case v.Account != nil:
		return fmt.Sprintf("account %d", v.Account.ID)
	case !v.Token.IsZero():
		return "job"
	default:
		return "anonymous"
	}
}

// anonymous reports whether the caller is anonymous.
func (v *Viewer) anonymous() bool { return v.Account == nil && v.Key == nil && v.Token.IsZero() }

// sees returns the account whose projects the caller may list; 0 for none. An admin of the server sees all.
func (v *Viewer) sees() (account int64, all bool) {
	if v.Account == nil {
		return 0, false
	}
	return v.Account.ID, v.Operator
}

// viewer identifies the caller, once per request. Invalid credentials are an error, not an anonymous
// caller: the holder of a revoked key must be told.
func (s *Server) viewer(r *http.Request) (*Viewer, error) {
	v := requestInfoOf(r)
	if v.viewer == nil && v.unknown == nil {
		v.viewer, v.unknown = s.identify(r, v)
	}
	return v.viewer, v.unknown
}

func (s *Server) identify(r *http.Request, v *requestInfo) (*Viewer, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, text, _ := strings.Cut(header, " ")
		text = strings.TrimSpace(text)
		switch {
		case !strings.EqualFold(scheme, "Bearer") || text == "" || len(text) > 16<<10:
			return nil, problem(http.StatusUnauthorized, "credentials", "Authorization: must be Bearer with a key or a token")
		case !strings.HasPrefix(text, "pawl_"):
			return &Viewer{Token: identity.NewToken(text)}, nil
		}
		key, err := s.store.KeyByText(r.Context(), text)
		if errors.Is(err, store.ErrNotFound) {
			s.buckets.spend("ip "+v.from.String(), s.limits.PerAddress, failedLogin)
			return nil, problem(http.StatusUnauthorized, "key", "the key is unknown, expired or revoked: an admin of the project can create a new one")
		}
		if err != nil {
			return nil, err
		}
		return &Viewer{Key: &key}, nil
	}
	if cookie, err := r.Cookie(s.cookieName(sessionCookie)); err == nil && len(cookie.Value) <= 256 {
		account, err := s.store.Login(r.Context(), cookie.Value, s.now().Add(-s.idle))
		if err == nil {
			return &Viewer{Account: &account, Operator: s.operates(account)}, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return &Viewer{}, nil // an expired login is anonymous: the page offers to log in again
}

// operates reports whether the settings name this account an admin of the server. It is checked at each
// request, so that removal from the list takes effect immediately.
func (s *Server) operates(a store.Account) bool {
	return s.login != nil && a.Issuer == s.login.Issuer && named(s.login.Admins, a.Subject, a.Email)
}

// rights returns what a viewer may do in a project. It does not cover job tokens.
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

// ofScope and ofRole define all permissions. Reports come only from keys and jobs, not from a person's
// browser. A key that reports cannot read, because keys in CI leak easily.
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

// admit returns the project of a request if the caller has the needed right. A caller without any right
// cannot distinguish a private project from a missing one.
func (s *Server) admit(r *http.Request, need Right) (store.Project, error) {
	v, err := s.viewer(r)
	if err != nil {
		return store.Project{}, err
	}
	if !v.Token.IsZero() {
		return store.Project{}, problem(http.StatusUnauthorized, "token", "CI job tokens can only send reports: use a key")
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
	case v.anonymous():
		return store.Project{}, problem(http.StatusUnauthorized, "credentials", "log in, or send a key with the right %q: Authorization: Bearer pawl_...", need)
	case len(rights) == 0:
		return store.Project{}, problem(http.StatusNotFound, "not-found", "there is no such project, or you may not see it")
	default:
		return store.Project{}, problem(http.StatusForbidden, "forbidden", "%s may not do this: it requires the right %q in project %s", v.Name(), need, p.Slug)
	}
}

// spend counts a request toward the limits of the caller and of the project.
func (s *Server) spend(v *Viewer, p store.Project) error {
	if !v.anonymous() && v.Token.IsZero() {
		if wait, ok := s.buckets.take(v.bucket(), s.limits.PerKey); !ok {
			return problem(http.StatusTooManyRequests, "rate", "too many requests by %s", v.Name()).after(wait)
		}
	}
	if wait, ok := s.buckets.take(projectBucket(p), s.limits.PerProject); !ok {
		return problem(http.StatusTooManyRequests, "rate", "too many requests for project %s", p.Slug).after(wait)
	}
	return nil
}

func projectBucket(p store.Project) string { return fmt.Sprint("project ", p.ID) }

func (v *Viewer) bucket() string {
	if v.Key != nil {
		return fmt.Sprintf("key %d %d", v.Key.Project, v.Key.ID)
	}
	return v.Name()
}
