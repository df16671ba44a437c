package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// settingsPage shows what an admin of the project may change. The forms on it do what the API does, with the same checks.
func (s *Server) settingsPage(r *http.Request, p store.Project) (web.View, error) {
	if err := s.wantAdmin(r, p); err != nil {
		return nil, err
	}
	ctx := r.Context()
	v := web.Settings{Project: p.Project, SampleDays: p.Settings.SampleDays, BranchDays: p.Settings.BranchDays, CanMail: s.mail.Server != "", CanLogin: s.login != nil}
	keys, err := s.store.Keys(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		one := web.Key{ID: k.ID, Name: k.Name, Prefix: k.Prefix, CreatedBy: k.CreatedBy, Created: k.Created, Revoked: k.Revoked != nil}
		for _, scope := range k.Scopes {
			one.Scopes = append(one.Scopes, string(scope))
		}
		if k.LastUsed != nil {
			one.LastUsed = *k.LastUsed
		}
		if k.Expires != nil {
			one.Expires, one.Expired = *k.Expires, !k.Expires.After(s.now())
		}
		v.Keys = append(v.Keys, one)
	}
	members, err := s.store.Members(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		v.Members = append(v.Members, web.Member{Account: m.ID, Name: m.Name, Subject: m.Subject, Role: string(m.Role)})
	}
	hooks, err := s.store.Hooks(ctx, p.ID)
	for _, h := range hooks {
		h = shownHook(h)
		v.Hooks = append(v.Hooks, web.Hook{ID: h.ID, Kind: h.Kind, URL: h.URL, Created: h.Created})
	}
	return v, err
}

// wantAdmin refuses a page to users who are not admins of the project.
func (s *Server) wantAdmin(r *http.Request, p store.Project) error {
	admin, err := s.may(r, p, Admin)
	if err == nil && !admin {
		err = problem(http.StatusForbidden, "forbidden", "only admins of the project see this page")
	}
	return err
}

// createKeyByForm shows the new key: it cannot be shown again.
func (s *Server) createKeyByForm(r *http.Request, p store.Project) (web.View, error) {
	in := newKey{Name: r.PostForm.Get("name")}
	for _, scope := range r.PostForm["scope"] {
		in.Scopes = append(in.Scopes, store.Scope(scope))
	}
	days, err := wholeNumber(r, "days")
	if err != nil {
		return nil, err
	}
	if days > 0 {
		until := s.now().Add(time.Duration(days) * 24 * time.Hour)
		in.Expires = &until
	}
	made, err := s.createKey(r, p, in)
	return web.NewKey{Name: made.Name, Text: made.Text}, err
}

func (s *Server) changeProjectByForm(r *http.Request, p store.Project) error {
	form := r.PostForm
	name, repository, branch, public := form.Get("name"), form.Get("repository"), form.Get("default_branch"), form.Get("public") == "1"
	_, err := s.changeProject(r, p, projectChange{Name: &name, Repository: &repository, Branch: &branch, Public: &public})
	return err
}

func (s *Server) changeRetentionByForm(r *http.Request, p store.Project) error {
	settings := p.Settings
	var err error
	if settings.SampleDays, err = wholeNumber(r, "sample_days"); err != nil {
		return err
	}
	if settings.BranchDays, err = wholeNumber(r, "branch_days"); err != nil {
		return err
	}
	_, err = s.changeProject(r, p, projectChange{Settings: &settings})
	return err
}

func (s *Server) addMemberByForm(r *http.Request, p store.Project) error {
	_, err := s.addMember(r, p, newMember{Subject: r.PostForm.Get("subject"), Name: r.PostForm.Get("name"), Role: store.Role(r.PostForm.Get("role"))})
	return err
}

func (s *Server) changeMemberByForm(r *http.Request, p store.Project) error {
	if r.PostForm.Get("role") == "" {
		return s.remove(r, p, "account", "member", (*store.Store).RemoveMember)
	}
	account, err := idOf(r, "account")
	if err != nil {
		return err
	}
	return s.changeRole(r, p, account, store.Role(r.PostForm.Get("role")))
}

func (s *Server) addHookByForm(r *http.Request, p store.Project) error {
	_, err := s.addHook(r, p, hookText{Kind: r.PostForm.Get("kind"), URL: r.PostForm.Get("url"), Secret: r.PostForm.Get("secret")})
	return err
}

// removeByForm removes the object whose number is in the path.
func removeByForm(what string, do func(in *store.Store, ctx context.Context, project, id int64) error) formChange {
	return func(s *Server, r *http.Request, p store.Project) (web.View, error) {
		return nil, s.remove(r, p, "id", what, do)
	}
}

// wholeNumber returns a number of a form; an empty field is 0.
func wholeNumber(r *http.Request, name string) (int, error) {
	text := r.PostForm.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 36_500 {
		return 0, badRequest("%s: must be a number of days from 0 to 36500", name)
	}
	return n, nil
}
