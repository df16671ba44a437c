package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// onePage returns a list as one page.
func onePage[T any](items []T) page[T] {
	if items == nil {
		items = []T{}
	}
	return page[T]{Items: items}
}

type newKey struct {
	Name    string        `json:"name"`
	Scopes  []store.Scope `json:"scopes"`
	Expires *time.Time    `json:"expires"`
}

// createdKey is the only response that ever contains a key.
type createdKey struct {
	store.Key
	Text string `json:"key"`
}

func (s *Server) postKey(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var in newKey
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	made, err := s.createKey(r, p, in)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, made)
}

// createKey implements postKey and the form on the settings page.
func (s *Server) createKey(r *http.Request, p store.Project, in newKey) (made createdKey, err error) {
	switch {
	case in.Name == "" || len(in.Name) > 100 || !isText(in.Name):
		return made, badRequest("name: must be 1 to 100 bytes and say where the key is used")
	case len(in.Scopes) == 0 || len(in.Scopes) > len(ofScope):
		return made, badRequest("scopes: must be one or more of read, report, report:main, admin")
	case in.Expires != nil && !in.Expires.After(s.now()):
		return made, badRequest("expires: must be in the future")
	}
	for _, scope := range in.Scopes {
		if ofScope[scope] == nil {
			return made, badRequest("scopes: must be one or more of read, report, report:main, admin")
		}
	}
	slices.Sort(in.Scopes)
	v, err := s.viewer(r)
	if err != nil {
		return made, err
	}
	err = s.changeAudited(r, p, "key.create", func(on *store.Store) (_ map[string]string, err error) {
		made.Text, made.Key, err = on.NewKey(r.Context(), p.ID, store.Key{Name: in.Name, Scopes: slices.Compact(in.Scopes), Expires: in.Expires, CreatedBy: v.Name()})
		return map[string]string{"key": strconv.FormatInt(made.ID, 10), "name": made.Name}, err
	})
	return made, err
}

type memberAnswer struct {
	Account int64      `json:"account"`
	Name    string     `json:"name"`
	Issuer  string     `json:"issuer"`
	Subject string     `json:"subject"`
	Role    store.Role `json:"role"`
}

func memberOf(m store.Member) memberAnswer {
	return memberAnswer{m.ID, m.Name, m.Issuer, m.Subject, m.Role}
}

type newMember struct {
	Issuer  string     `json:"issuer"`
	Subject string     `json:"subject"`
	Name    string     `json:"name"`
	Role    store.Role `json:"role"`
}

func (s *Server) postMember(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var in newMember
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	member, err := s.addMember(r, p, in)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, member)
}

// addMember gives a person a role. The person is named by their subject at the login issuer, and need
// not have logged in before. Only an admin of the server, who may list all accounts, can use a name
// instead.
func (s *Server) addMember(r *http.Request, p store.Project, in newMember) (member memberAnswer, err error) {
	v, err := s.viewer(r)
	if err != nil {
		return member, err
	}
	if in.Issuer == "" && s.login != nil {
		in.Issuer = s.login.Issuer
	}
	switch {
	case ofRole[in.Role] == nil:
		return member, badRequest("role: must be viewer, writer or admin")
	case (in.Subject == "") == (in.Name == ""):
		return member, badRequest("give either a subject (the person's ID at the login issuer) or a name")
	case in.Name != "" && !v.Operator:
		return member, problem(http.StatusForbidden, "forbidden", "name: only an admin of the server can look people up by name; give their subject")
	case in.Subject != "" && !isIssuer(in.Issuer):
		return member, badRequest("issuer: must be https://HOST[/PATH], the issuer of the subject")
	}
	err = s.changeAudited(r, p, "member.set", func(on *store.Store) (map[string]string, error) {
		account, err := s.meant(r.Context(), on, in.Issuer, in.Subject, in.Name)
		if err != nil {
			return nil, err
		}
		member = memberOf(store.Member{Account: account, Role: in.Role})
		return toldRole(account.ID, in.Role), on.SetMember(r.Context(), p.ID, account.ID, in.Role)
	})
	return member, err
}

// meant returns the account to invite.
func (s *Server) meant(ctx context.Context, in *store.Store, issuer, subject, name string) (store.Account, error) {
	if subject != "" {
		return in.Invite(ctx, issuer, subject)
	}
	list, err := in.Accounts(ctx, name)
	switch {
	case err != nil:
		return store.Account{}, err
	case len(list) == 0:
		return store.Account{}, problem(http.StatusNotFound, "not-found", "no person of that name has logged in")
	case len(list) > 1:
		return store.Account{}, problem(http.StatusConflict, "conflict", "%d people have that name: give the subject", len(list))
	}
	return list[0], nil
}

func isIssuer(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

func toldRole(account int64, role store.Role) map[string]string {
	return map[string]string{"account": strconv.FormatInt(account, 10), "role": string(role)}
}

func (s *Server) putMember(w http.ResponseWriter, r *http.Request, p store.Project) error {
	account, err := idOf(r, "account")
	if err != nil {
		return err
	}
	var in struct {
		Role store.Role `json:"role"`
	}
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	if err := s.changeRole(r, p, account, in.Role); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// changeRole changes the role of an existing member. It cannot add a member by account number, because
// numbers can be guessed.
func (s *Server) changeRole(r *http.Request, p store.Project, account int64, role store.Role) error {
	if ofRole[role] == nil {
		return badRequest("role: must be viewer, writer or admin")
	}
	return s.changeAudited(r, p, "member.set", func(on *store.Store) (map[string]string, error) {
		if had, err := on.RoleOf(r.Context(), p.ID, account); err != nil {
			return nil, err
		} else if had == "" {
			return nil, problem(http.StatusNotFound, "not-found", "there is no such member: invite them with a POST to members")
		}
		return toldRole(account, role), on.SetMember(r.Context(), p.ID, account, role)
	})
}

// listAudit lists audit lines, newest first.
func (s *Server) listAudit(w http.ResponseWriter, r *http.Request, p store.Project) error {
	q := ask(r, "cursor", "limit")
	before, limit := q.cursor("audit"), q.limit()
	if q.err != nil {
		return q.err
	}
	entries, err := s.store.AuditLog(r.Context(), p.ID, before, limit+1)
	if err != nil {
		return err
	}
	return show(w, r, pageOf("audit", entries, limit, func(e store.Entry) int64 { return e.N }))
}
