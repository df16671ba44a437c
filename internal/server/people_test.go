package server

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Who is taken off the operator's list is no admin, whatever logins they have.
func TestAdminsOfTheServerAreThoseOfTheSettings(t *testing.T) {
	w := newWorld(t)
	w.project("kernels", false)
	cookie, _ := w.person("operator", nil)
	look := asked{path: "/v1/projects/kernels", cookie: cookie}
	w.want(200, look)
	w.server.login.Admins = nil // as after a restart with other settings
	w.want(404, look)
	w.server.login.Admins = []string{"operator"}
	w.server.login.Issuer = "https://other.example" // the same subject elsewhere is another person
	w.want(404, look)
}

// People are invited by what an issuer knows them as, and nobody learns by it who has an
// account.
func TestMembersAreInvited(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeAdmin)
	known, id := w.person("ada", nil)
	invite := func(body map[string]any) answered {
		return w.do(asked{method: "POST", path: "/v1/projects/kernels/members", key: key, json: body})
	}
	var one, two memberAnswer
	a, b := invite(map[string]any{"subject": "ada", "role": "viewer"}), invite(map[string]any{"issuer": "https://else.example", "subject": "bob", "role": "writer"})
	a.into(t, &one)
	b.into(t, &two)
	if a.StatusCode != http.StatusOK || b.StatusCode != http.StatusOK || one.Account != id || one.Issuer != loginIssuer || two.Role != store.Writer {
		t.Fatalf("%d %s, %d %s", a.StatusCode, a.body, b.StatusCode, b.body)
	}
	w.want(200, asked{path: "/v1/projects/kernels", cookie: known})
	for status, bodies := range map[int][]map[string]any{
		400: {{"subject": "x", "role": "king"}, {"role": "viewer"}, {"subject": "x", "name": "x", "role": "viewer"}, {"issuer": "ftp://x", "subject": "x", "role": "viewer"}},
		403: {{"name": "ada", "role": "admin"}},
	} {
		for _, body := range bodies {
			if got := invite(body); got.StatusCode != status {
				t.Errorf("%v: %d %s, want %d", body, got.StatusCode, got.body, status)
			}
		}
	}
	operator, _ := w.person("operator", nil)
	_, stranger := w.person("carol", nil)
	by := func(name string) asked {
		return asked{method: "POST", path: "/v1/projects/kernels/members", cookie: operator, json: map[string]any{"name": name, "role": "viewer"}}
	}
	w.want(404, by("nobody"))
	// By number, somebody with an account is the same as nobody.
	for _, number := range []int64{stranger, 99_999} {
		path := fmt.Sprintf("/v1/projects/kernels/members/%d", number)
		w.want(404, asked{method: "PUT", path: path, key: key, json: map[string]any{"role": "viewer"}})
		w.want(404, asked{method: "DELETE", path: path, key: key})
	}
	w.want(200, by("carol"))
	w.want(204, asked{method: "PUT", path: fmt.Sprintf("/v1/projects/kernels/members/%d", stranger), key: key, json: map[string]any{"role": "admin"}})
	w.want(204, asked{method: "DELETE", path: fmt.Sprintf("/v1/projects/kernels/members/%d", stranger), key: key})
}

// Of many who change what they all read, one succeeds.
func TestChangesOfAProjectTakeTurns(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", false), store.ScopeAdmin)
	etag := w.want(200, asked{path: "/v1/projects/kernels", key: key}).Header.Get("ETag")
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			a := w.do(asked{method: "PATCH", path: "/v1/projects/kernels", key: key, header: map[string]string{"If-Match": etag}, json: map[string]any{"name": fmt.Sprint("name ", n)}})
			mu.Lock()
			defer mu.Unlock()
			got[a.StatusCode]++
		})
	}
	all.Wait()
	if got[http.StatusOK] != 1 || got[http.StatusPreconditionFailed] != 7 {
		t.Errorf("answers %v", got)
	}
	var lines page[store.Entry]
	w.want(200, asked{path: "/v1/projects/kernels/audit", key: key}).into(t, &lines)
	if len(lines.Items) != 1 || lines.Items[0].Action != "project.update" {
		t.Errorf("written down: %+v", lines.Items)
	}
}

func TestHooksPointOutside(t *testing.T) {
	for _, private := range []bool{false, true} {
		w := newWorld(t, func(c *Config) { c.PrivateHooks = private })
		key := w.key(w.project("kernels", false), store.ScopeAdmin)
		for address, inside := range map[string]bool{
			"https://hooks.example/x": false, "https://10.1.2.3/x": true, "https://[::1]/x": true, "http://hooks.example/x": true, "https://127.0.0.1:9/": true,
		} {
			want := http.StatusCreated
			if inside && !private {
				want = http.StatusBadRequest
			}
			w.want(want, asked{method: "POST", path: "/v1/projects/kernels/hooks", key: key, json: map[string]any{"kind": "slack", "url": address}})
		}
		for _, never := range []string{"https://169.254.169.254/latest", "https://u:p@hooks.example/", "ftp://hooks.example/", "https://hooks.example/#x"} {
			w.want(http.StatusBadRequest, asked{method: "POST", path: "/v1/projects/kernels/hooks", key: key, json: map[string]any{"kind": "slack", "url": never}})
		}
	}
}

func TestSharesLeaveRoomForOthers(t *testing.T) {
	b := newShares(8, 1)
	first, second := b.try(1, 1), b.try(1, 1)
	if !first || !second || b.try(1, 1) || !b.try(2, 2) || !b.try(3, 2) || !b.try(4, 2) || b.try(5, 1) {
		t.Error("a quarter each, and no more than there is")
	}
	done := make(chan error)
	go func() { done <- b.wait(t.Context(), 5) }()
	b.give(1, 1)
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.give(5, 1)
	b.give(1, 1)
	for project := int64(2); project <= 4; project++ {
		b.give(project, 2)
	}
	if len(b.parts) != 0 || !b.whole.TryAcquire(8) {
		t.Errorf("%d projects are remembered", len(b.parts))
	}
	if big := newShares(8, 100); big.most != 8 {
		t.Errorf("a part of %d", big.most)
	}
}

func TestJudgedReportsAreBounded(t *testing.T) {
	j := newLRU[template.HTML](judgedBytes)
	put := func(key, text string) { j.getOr(key, len(text), func() template.HTML { return template.HTML(text) }) }
	put("large", "x")
	for n := range 20 {
		put(fmt.Sprint(n), strings.Repeat("x", judgedLargest))
		j.get("large")
	}
	if _, ok := j.get("large"); !ok || j.size > judgedBytes || len(j.byKey) != j.order.Len() || len(j.byKey) > 1+judgedBytes/judgedLargest {
		t.Errorf("%d bytes in %d reports; the one that is looked at is there: %v", j.size, len(j.byKey), ok)
	}
	if _, ok := j.get("0"); ok {
		t.Error("the oldest is still there")
	}
}
