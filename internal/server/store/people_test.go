package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func TestProjects(t *testing.T) {
	s, _ := opened(t)
	made, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "kernels", Repository: "https://example.com/o/r"}})
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != "kernels" || made.Branch != "main" || !made.Created.Equal(noon) {
		t.Errorf("made %+v", made)
	}
	if _, err := s.CreateProject(t.Context(), made); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a second of the name: %v", err)
	}
	for _, slug := range []string{"", "Upper", "-a", "a-", "a/b", strings.Repeat("a", 65), "a\x00"} {
		if _, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: slug}}); err == nil {
			t.Errorf("the name %q was taken", slug)
		} else if _, ok := errors.AsType[*store.InvalidError](err); !ok {
			t.Errorf("the name %q: %v", slug, err)
		}
	}
	made.Public, made.Settings = true, store.Settings{PointsPerDay: 7}
	if err := s.UpdateProject(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	for _, find := range []func() (store.Project, error){
		func() (store.Project, error) { return s.Project(t.Context(), "kernels") },
		func() (store.Project, error) { return s.ProjectByID(t.Context(), made.ID) },
	} {
		if got, err := find(); err != nil || !cmp.Equal(made, got) {
			t.Errorf("%+v, %v, want %+v", got, err, made)
		}
	}
	if _, err := s.Project(t.Context(), "other"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestWhoSeesWhat(t *testing.T) {
	s, _ := opened(t)
	open, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "open", Public: true}})
	if err != nil {
		t.Fatal(err)
	}
	secret, other := projectNamed(t, s, "secret"), projectNamed(t, s, "other")
	mona, err := s.SignIn(t.Context(), "https://issuer.example", "5", "mona", "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.SignIn(t.Context(), "https://issuer.example", "5", "mona l.", "")
	if err != nil || again.ID != mona.ID || again.Name != "mona l." {
		t.Errorf("%+v, %v", again, err)
	}
	if err := s.SetMember(t.Context(), secret, mona.ID, store.Viewer); err != nil {
		t.Fatal(err)
	}
	if err := s.SetMember(t.Context(), secret, mona.ID, store.Writer); err != nil {
		t.Fatal(err)
	}
	for account, want := range map[int64][]string{0: {"open"}, mona.ID: {"open", "secret"}} {
		list, err := s.Projects(t.Context(), account, false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			got = append(got, p.Slug)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("account %d sees %v, want %v", account, got, want)
		}
	}
	if all, err := s.Projects(t.Context(), 0, true); err != nil || len(all) != 3 {
		t.Errorf("all are %d, %v", len(all), err)
	}
	for project, want := range map[int64]store.Role{secret: store.Writer, other: "", open.ID: ""} {
		if got, err := s.RoleOf(t.Context(), project, mona.ID); err != nil || got != want {
			t.Errorf("the role in %d is %q, %v, want %q", project, got, err, want)
		}
	}
	if list, err := s.Members(t.Context(), secret); err != nil || len(list) != 1 || list[0].Role != store.Writer || list[0].Name != "mona l." {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.SetMember(t.Context(), secret, 999, store.Viewer); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody as a member: %v", err)
	}
	if err := s.SetMember(t.Context(), secret, mona.ID, "king"); err == nil {
		t.Error("a king was made")
	}
	if err := s.RemoveMember(t.Context(), secret, mona.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveMember(t.Context(), secret, mona.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("she is taken out twice: %v", err)
	}
	if got, err := s.RoleOf(t.Context(), secret, mona.ID); err != nil || got != "" {
		t.Errorf("after she left: %q, %v", got, err)
	}
}

func TestLogins(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	mona, err := s.SignIn(t.Context(), "https://issuer.example", "5", "mona", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddLogin(t.Context(), "cookie-1", mona.ID, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Login(t.Context(), "cookie-1", time.Time{}); err != nil || got != mona {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Login(t.Context(), "cookie-2", time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a cookie that nobody was given: %v", err)
	}
	now = now.Add(time.Hour)
	if _, err := s.Login(t.Context(), "cookie-1", time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an old cookie: %v", err)
	}
	if err := s.AddLogin(t.Context(), "cookie-3", mona.ID, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := ask(t, url, `select count(*) from pawl.login`); n != 1 {
		t.Errorf("%d logins are kept, want the one that holds", n)
	}
	if err := s.EndLogin(t.Context(), "cookie-3"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Login(t.Context(), "cookie-3", time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after logging out: %v", err)
	}
}

// A login ends when it was not used for long enough, and when an operator ends it.
func TestLogins_EndWhenIdleAndByTheOperator(t *testing.T) {
	now := noon
	s, _ := openedAt(t, func() time.Time { return now })
	used := func() bool {
		t.Helper()
		_, err := s.Login(t.Context(), "cookie", now.Add(-time.Hour))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	mona, err := s.SignIn(t.Context(), "https://issuer.example", "5", "mona", "")
	if err != nil {
		t.Fatal(err)
	}
	start := func() {
		t.Helper()
		if err := s.AddLogin(t.Context(), "cookie", mona.ID, now.Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	start()
	for range 3 {
		if now = now.Add(50 * time.Minute); !used() {
			t.Error("a login in use has ended")
		}
	}
	if now = now.Add(61 * time.Minute); used() {
		t.Error("an idle login goes on")
	}
	for _, account := range []int64{mona.ID, 0} {
		if _, err := s.EndLogins(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		start()
		if n, err := s.EndLogins(t.Context(), mona.ID+1); err != nil || n != 0 || !used() {
			t.Errorf("the login of another person was ended: %d, %v", n, err)
		}
		if n, err := s.EndLogins(t.Context(), account); err != nil || n != 1 || used() {
			t.Errorf("%d logins were ended, and one goes on: %v", n, err)
		}
	}
}

func TestKeys(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	p, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	end := now.Add(time.Hour)
	text, kept, err := s.NewKey(t.Context(), p, store.Key{Name: "ci", Scopes: []store.Scope{store.ScopeReport, store.ScopeRead}, CreatedBy: "mona", Expires: &end})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.KeyByText(t.Context(), text)
	if err != nil || got.ID != kept.ID || got.Project != p || !got.Has(store.ScopeReport) || got.Has(store.ScopeAdmin) {
		t.Errorf("%+v, %v", got, err)
	}
	secret := text[strings.LastIndexByte(text, '_')+1:]
	if n := ask(t, url, `select count(*) from pawl.api_key k where k::text like '%' || $1 || '%'`, secret[8:]); n != 0 {
		t.Error("the database knows the key")
	}
	used := func() int64 {
		return ask(t, url, `select coalesce(extract(epoch from last_used)::bigint, 0) from pawl.api_key where id = $1`, kept.ID)
	}
	now = now.Add(59 * time.Second)
	if _, err := s.KeyByText(t.Context(), text); err != nil || used() != noon.Unix() {
		t.Errorf("used again within a minute: noted at %d, %v", used(), err)
	}
	now = now.Add(time.Second)
	if _, err := s.KeyByText(t.Context(), text); err != nil || used() != now.Unix() {
		t.Errorf("used again after a minute: noted at %d, %v", used(), err)
	}
	elsewhere := strings.Replace(text, "pawl_1_", "pawl_2_", 1)
	for what, wrong := range map[string]string{"nothing": "", "another project's": elsewhere, "cut": text[:len(text)-1], "longer": text + "0", "in other letters": strings.ToUpper(text)} {
		if _, err := s.KeyByText(t.Context(), wrong); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a key that is %s: %v", what, err)
		}
	}
	if err := s.RevokeKey(t.Context(), other, kept.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another project revoked it: %v", err)
	}
	now = end
	if _, err := s.KeyByText(t.Context(), text); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an expired key: %v", err)
	}
	text, kept, err = s.NewKey(t.Context(), p, store.Key{Name: "for ever", Scopes: []store.Scope{store.ScopeAdmin}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeKey(t.Context(), p, kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.KeyByText(t.Context(), text); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revoked key: %v", err)
	}
	if list, err := s.Keys(t.Context(), p); err != nil || len(list) != 2 || list[0].Name != "for ever" || list[0].Revoked == nil {
		t.Errorf("%+v, %v", list, err)
	}
	if _, _, err := s.NewKey(t.Context(), p, store.Key{Scopes: []store.Scope{"everything"}}); err == nil {
		t.Error("a key of no scope was made")
	}
}

func TestRulesAndHooks(t *testing.T) {
	s, _ := opened(t)
	p, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	rule := identity.Rule{RepositoryID: 1, OwnerID: 2, DefaultBranch: "main", Events: []string{"push"}, Workflow: ".github/workflows/pawl.yml"}
	kept, err := s.AddRule(t.Context(), p, rule)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Rules(t.Context(), p); err != nil || len(list) != 1 || !cmp.Equal(list[0].Rule, rule) {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.AddRule(t.Context(), p, identity.Rule{}); err == nil {
		t.Error("a rule that lets everybody in was taken")
	}
	hook, err := s.AddHook(t.Context(), p, alert.Hook{Kind: "slack", URL: "https://example.com", Secret: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Hooks(t.Context(), p); err != nil || len(list) != 1 || list[0] != hook {
		t.Errorf("%+v, %v", list, err)
	}
	for _, remove := range []func(project int64) error{
		func(project int64) error { return s.RemoveRule(t.Context(), project, kept.ID) },
		func(project int64) error { return s.RemoveHook(t.Context(), project, hook.ID) },
	} {
		if err := remove(other); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another project: %v", err)
		}
		if err := remove(p); err != nil {
			t.Error(err)
		}
	}
}

// A line that is changed, removed or put between is found; so are writers who raced.
func TestAudit(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if err := s.Audit(t.Context(), p, "mona\x00", "key.create", map[string]string{"b": "2 < 3", "a": "\xff"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, err := s.VerifyAudit(t.Context(), p); err != nil || n != 40 {
		t.Fatalf("%d lines, %v", n, err)
	}
	page, err := s.AuditLog(t.Context(), p, 39, 3)
	if err != nil || len(page) != 3 || page[0].N != 38 || page[0].Detail["b"] != "2 < 3" {
		t.Errorf("%+v, %v", page, err)
	}
	conn := owner(t, url)
	for what, sql := range map[string]string{
		"another actor":  `update pawl.audit set actor = 'somebody' where n = 7`,
		"another detail": `update pawl.audit set detail = '{"a": "x"}' where n = 7`,
		"another time":   `update pawl.audit set at = at + interval '1 microsecond' where n = 7`,
		"a line less":    `delete from pawl.audit where n = 7`,
		"a line between": `update pawl.audit set n = n + 100 where n > 7; insert into pawl.audit select project_id, 8, at, actor, action, detail, hash from pawl.audit where n = 7; update pawl.audit set n = n - 99 where n > 100`,
		"two exchanged":  `update pawl.audit set n = -n where n in (7, 8); update pawl.audit set n = case n when -7 then 8 else 7 end where n < 0`,
	} {
		must(t, conn, `begin`)
		must(t, conn, `create table kept as select * from pawl.audit`)
		must(t, conn, `commit`)
		must(t, conn, sql)
		if n, err := s.VerifyAudit(t.Context(), p); err == nil {
			t.Errorf("%s was not noticed", what)
		} else if n < 6 || n > 7 {
			t.Errorf("%s was noticed after line %d: %v", what, n, err)
		}
		must(t, conn, `delete from pawl.audit; insert into pawl.audit select * from kept; drop table kept`)
	}
	if n, err := s.VerifyAudit(t.Context(), p); err != nil || n != 40 {
		t.Fatalf("put back: %d lines, %v", n, err)
	}
}

func TestTokenUses(t *testing.T) {
	identitytest.TestTokenStore(t, func(t *testing.T, now func() time.Time) identity.TokenStore {
		t.Helper()
		s, _ := openedAt(t, now)
		return s.TokenUses()
	})
}
