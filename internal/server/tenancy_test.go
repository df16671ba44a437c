package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// furnished is a project with one of everything, and the path of each route in it.
type furnished struct {
	store.Project
	blob           []byte
	run            client.Receipt
	key, rule      int64
	link           int64
	hook, account  int64
	event, testbed int64
	live           string
}

// secretText is in everything that the furnished project holds.
const secretText = "orchid"

func (w *world) furnish(slug string, public bool) furnished {
	w.t.Helper()
	f := furnished{Project: w.project(slug, public), blob: []byte(secretText + " samples")}
	key := w.key(f.Project, store.ScopeAdmin)
	w.want(201, asked{method: "POST", path: "/v1/projects/" + slug + "/blobs/" + digest(f.blob), key: key, body: f.blob})
	r := example(1, 2)
	r.Suite, r.Commit.Title = secretText, secretText
	r.Blobs = []client.Blob{{Digest: digest(f.blob), Size: int64(len(f.blob)), Kind: client.BlobProfile}}
	f.run = w.sent(slug, key, r)
	made := func(path string, body any) int64 {
		var a struct {
			ID int64 `json:"id"`
		}
		w.want(201, asked{method: "POST", path: "/v1/projects/" + slug + path, key: key, json: body}).into(w.t, &a)
		return a.ID
	}
	f.key = made("/keys", map[string]any{"name": secretText, "scopes": []string{"read"}})
	f.rule = made("/rules", map[string]any{"repository_id": 5, "owner_id": 6, "default_branch": secretText, "events": []string{"push"}, "workflow": ".github/workflows/a.yml"})
	f.link = made("/links", map[string]any{"series": w.firstSeries(f.ID), "name": secretText, "expires": time.Now().Add(time.Hour)})
	f.hook = made("/hooks", map[string]any{"kind": "json", "url": "https://hooks.example/" + secretText, "secret": secretText + "-0123456789"})
	_, f.account = w.person("member-of-"+slug, map[int64]store.Role{f.ID: store.Viewer})
	f.testbed = 1
	f.event = w.event(f.ID)
	f.live = runName(77)
	w.tell(slug, key, f.live, liveStory()...)
	if err := fleetstore.New(w.store.DB()).AddGate(w.ctx(), f.ID, gate.Work{Gate: runName(7), Head: sha(2), Suite: secretText}, []string{"l4"}, secretText); err != nil {
		w.t.Fatal(err)
	}
	return f
}

// firstSeries is the number of a project's first series.
func (w *world) firstSeries(project int64) (id int64) {
	w.t.Helper()
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select min(id) from pawl.series where project_id = $1`, project).Scan(&id)
	})
	return id
}

// event writes one, as the finder would.
func (w *world) event(project int64) int64 {
	w.t.Helper()
	var id int64
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `with g as (insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse)
				values ($1, 'a', 'b', now(), 0.1, 1, 1) returning id)
			insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, note, group_id)
			select $1, (select min(id) from pawl.series where project_id = $1), 'step', 1, true, 'a', 'b', now(), now(), 1, 1.1, 0.001, 'orchid', g.id from g
			returning id`, project).Scan(&id)
	})
	return id
}

// sql runs as the superuser, who sees every row.
func (w *world) sql(do func(context.Context, *pgx.Conn) error) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(w.ctx())
	if err := do(w.ctx(), conn); err != nil {
		w.t.Fatal(err)
	}
}

// fill is the path of a route in this project.
func (f furnished) fill(path string) string {
	at := f.Slug
	id := map[string]int64{
		"series": 1, "runs": f.run.Report, "testbeds": f.testbed, "events": f.event, "groups": 1,
		"keys": f.key, "rules": f.rule, "hooks": f.hook, "links": f.link,
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch part {
		case "{project}":
			parts[i] = at
		case "{digest}":
			parts[i] = digest(f.blob)
		case "{account}":
			parts[i] = fmt.Sprint(f.account)
		case "{run}":
			parts[i] = f.live
		case "{gate}":
			parts[i] = runName(7)
		case "{suite}":
			parts[i] = secretText
		case "{id}":
			parts[i] = fmt.Sprint(id[parts[i-1]])
		}
	}
	return strings.Join(parts, "/")
}

// bodyFor is one that would do something, were it allowed.
func (f furnished) bodyFor(t testing.TB, r Route) (body []byte, document any) {
	t.Helper()
	switch r.Method + " " + strings.TrimPrefix(r.Path, project) {
	case "POST /reports":
		return encodeReport(t, example(99, 1)), nil
	case "POST /blobs/{digest}":
		return f.blob, nil
	case "POST /live/{run}":
		return nil, liveBody(liveStory()...)
	case "PUT /gates/{gate}":
		return nil, client.GateRequest{Models: []string{"l4"}, Bundle: digest(f.blob), Base: sha(1), Head: sha(2), Suite: "pawl.yaml", Seconds: 600}
	case "PATCH ":
		return nil, map[string]any{"name": "taken"}
	case "PATCH /events/{id}", "PATCH /groups/{id}":
		return nil, map[string]any{"state": "fixed"}
	case "POST /keys":
		return nil, map[string]any{"name": "mine", "scopes": []string{"admin"}}
	case "POST /members":
		return nil, map[string]any{"subject": "thief", "role": "admin"}
	case "PUT /members/{account}":
		return nil, map[string]any{"role": "admin"}
	case "POST /rules":
		return nil, map[string]any{"repository_id": 7, "owner_id": 8, "default_branch": "main", "events": []string{"push"}, "workflow": ".github/workflows/b.yml"}
	case "POST /runs/{id}/exclude", "POST /series/{id}/exclude":
		return nil, map[string]any{"reason": "taken"}
	case "POST /links":
		return nil, map[string]any{"series": 1, "name": "mine", "expires": time.Now().Add(time.Hour)}
	case "POST /hooks":
		return nil, map[string]any{"kind": "slack", "url": "https://evil.example/"}
	}
	return nil, nil
}

// question is a request to a route of this project that would work, were it allowed.
func (f furnished) question(t testing.TB, r Route) asked {
	t.Helper()
	q := asked{method: r.Method, path: f.fill(r.Path)}
	q.body, q.json = f.bodyFor(t, r)
	if r.Method == http.MethodDelete && r.Path == project {
		q.path += "?confirm=" + f.Slug
	}
	return q
}

// fingerprint is all that the database holds, but for when keys were used.
func (w *world) fingerprint() string {
	w.t.Helper()
	var all strings.Builder
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		names, err := pgx.CollectRows(must(conn.Query(ctx, `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where nspname = 'pawl' and relkind in ('r', 'p') and not relispartition order by 1`)), pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, name := range names {
			var sum string
			if err := conn.QueryRow(ctx, `select coalesce(md5(string_agg(t, E'\n' order by t)), '') from
				(select (to_jsonb(x) - 'last_used')::text as t from pawl.`+pgx.Identifier{name}.Sanitize()+` x) r`).Scan(&sum); err != nil {
				return err
			}
			fmt.Fprintf(&all, "%s %s\n", name, sum)
		}
		return nil
	})
	return all.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Whoever has nothing to do with a private project learns nothing of it and changes
// nothing in it: on every route, in every disguise.
func TestNoRouteCrossesProjects(t *testing.T) {
	w := newWorld(t)
	a, b := w.furnish("orchard", false), w.furnish("brook", false)
	stranger, _ := w.person("stranger", nil)
	adminOfB, _ := w.person("admin-of-b", map[int64]store.Role{b.ID: store.Admin})
	who := map[string]asked{
		"nobody":              {},
		"a person":            {cookie: stranger},
		"an admin of B":       {cookie: adminOfB},
		"a key of B":          {key: w.key(b.Project, store.ScopeAdmin)},
		"a key of B to send":  {key: w.key(b.Project, store.ScopeReportMain)},
		"a cookie of nobody":  {cookie: "invented-cookie-0123456789"},
		"a key that was made": {key: "pawl_1_" + strings.Repeat("A", 49)},
	}
	absent := a
	absent.Slug = "orchids"
	before := w.fingerprint()
	for name, as := range who {
		for _, route := range routes {
			if route.Need == AnyCaller {
				continue
			}
			q := a.question(t, route)
			q.key, q.cookie = as.key, as.cookie
			if route.Need == Send && q.key == "" && route.Method == http.MethodPost {
				q.header = map[string]string{"Sec-Fetch-Site": "same-origin"}
			}
			got := w.do(q)
			if !slices.Contains([]int{401, 403, 404}, got.StatusCode) {
				t.Errorf("%s: %s %s: %d %s", name, q.method, q.path, got.StatusCode, got.body)
			}
			if strings.Contains(string(got.body), "orchid") {
				t.Errorf("%s: %s %s tells what the project holds: %s", name, q.method, q.path, got.body)
			}
			// A project that is not there gets the same answer.
			other := absent.question(t, route)
			other.key, other.cookie, other.header = q.key, q.cookie, q.header
			if none := w.do(other); none.StatusCode != got.StatusCode || route.Method != http.MethodHead && none.problem(t).word() != got.problem(t).word() {
				t.Errorf("%s: %s %s: %d %s, and of a project that is not there %d %s", name, q.method, q.path, got.StatusCode, got.body, none.StatusCode, none.body)
			}
		}
		var list page[client.Project]
		if got := w.do(asked{path: "/v1/projects", key: as.key, cookie: as.cookie}); got.StatusCode == http.StatusOK {
			got.into(t, &list)
		}
		if slices.ContainsFunc(list.Items, func(p client.Project) bool { return p.Slug == a.Slug }) {
			t.Errorf("%s: the list of projects names it", name)
		}
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("something was changed: before\n%s\nafter\n%s", before, after)
	}
}

// The same questions work for who may ask them: what is refused above is refused for who
// asks, and not because the question is wrong.
func TestEveryRouteWorks(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("orchard", false)
	key := w.key(f.Project, store.ScopeAdmin)
	pass := func(r Route) int { // what takes away what others look at comes last
		switch {
		case strings.HasSuffix(r.Path, "/exclude"):
			return 1
		case strings.HasSuffix(r.Path, "/restore"):
			return 2
		case r.Method == http.MethodDelete:
			return 3
		}
		return 0
	}
	for n := range 4 {
		for _, route := range slices.Backward(routes) {
			if pass(route) != n {
				continue
			}
			q := f.question(t, route)
			q.key = key
			if q.method == http.MethodDelete && (strings.HasSuffix(route.Path, "/runs/{id}") || strings.HasSuffix(route.Path, "/series/{id}")) {
				w.want(http.StatusNoContent, asked{method: "POST", path: q.path + "/exclude", key: key, json: map[string]any{"reason": "to delete it"}})
			}
			if strings.HasSuffix(q.path, "/record") || strings.HasSuffix(q.path, "/deliveries") {
				continue // there is no record, and deliveries are signed; both have their own tests
			}
			if got := w.do(q); got.StatusCode >= 300 {
				t.Errorf("%s %s: %d %s", q.method, q.path, got.StatusCode, got.body)
			}
		}
	}
	a := w.do(asked{path: "/v1/projects/orchard", key: key})
	if a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a key of a project that is gone: %d %s", a.StatusCode, a.body)
	}
}

// Who may do what, in full.
func TestRights(t *testing.T) {
	all := []Right{Read, Send, Write, Admin}
	for _, public := range []bool{false, true} {
		w := newWorld(t)
		f := w.furnish("orchard", public)
		person := func(name string, role store.Role) string {
			cookie, _ := w.person(name, map[int64]store.Role{f.ID: role})
			return cookie
		}
		operator, _ := w.person("operator", nil)
		for _, c := range []struct {
			name string
			as   asked
			may  []Right
		}{
			{"a key to read", asked{key: w.key(f.Project, store.ScopeRead)}, []Right{Read}},
			{"a key to report", asked{key: w.key(f.Project, store.ScopeReport)}, []Right{Send}},
			{"a key to report main", asked{key: w.key(f.Project, store.ScopeReportMain)}, []Right{Send}},
			{"a key to read and report", asked{key: w.key(f.Project, store.ScopeRead, store.ScopeReport)}, []Right{Read, Send}},
			{"an admin's key", asked{key: w.key(f.Project, store.ScopeAdmin)}, all},
			{"a viewer", asked{cookie: person("viewer", store.Viewer)}, []Right{Read}},
			{"a writer", asked{cookie: person("writer", store.Writer)}, []Right{Read, Write}},
			{"an admin", asked{cookie: person("admin", store.Admin)}, []Right{Read, Write, Admin}},
			{"the operator", asked{cookie: operator}, []Right{Read, Write, Admin}},
			{"nobody", asked{}, nil},
		} {
			for _, route := range routes {
				if route.Need == AnyCaller || route.Method == http.MethodDelete || route.Method != http.MethodGet && route.Need == Admin || strings.HasSuffix(route.Path, "/record") {
					continue // those have done their work in the tests above; here one a right is enough
				}
				q := f.question(t, route)
				q.key, q.cookie = c.as.key, c.as.cookie
				got := w.do(q)
				may := slices.Contains(c.may, route.Need) || public && route.Need == Read
				if ok := got.StatusCode < 300; ok != may {
					t.Errorf("public %v, %s: %s %s: %d, may %v", public, c.name, q.method, q.path, got.StatusCode, may)
				}
				if !may && got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusUnauthorized {
					t.Errorf("public %v, %s: %s %s is refused with %d", public, c.name, q.method, q.path, got.StatusCode)
				}
			}
		}
	}
}
