package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Secrets go in and are not found again: not in a table, not in the log, not in an
// answer but the one that hands out a new key.
func TestSecretsAreNotKeptNorTold(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	admin := w.key(p, store.ScopeAdmin)
	base := "/v1/projects/kernels"
	var told strings.Builder // every answer but that one
	ask := func(q asked) answered {
		a := w.do(q)
		told.Write(a.body)
		for name, values := range a.Header {
			told.WriteString(name + ": " + strings.Join(values, ",") + "\n")
		}
		return a
	}
	var made createdKey
	w.want(201, asked{method: "POST", path: base + "/keys", key: admin, json: map[string]any{"name": "ci", "scopes": []string{"report"}}}).into(t, &made)
	ask(asked{method: "POST", path: base + "/hooks", key: admin, json: map[string]any{"kind": "json", "url": "https://hooks.example/T0/canary-path", "secret": "canary-hook-secret"}})
	for _, path := range []string{"", "/keys", "/hooks", "/members", "/rules", "/audit", "/runs", "/export"} {
		ask(asked{path: base + path, key: admin})
	}
	body := encodeReport(t, example(1, 1))
	token := w.token("kernels", body, nil)
	cookie := "canary-cookie-0123456789012345678901234567890"
	for _, q := range []asked{
		{method: "POST", path: base + "/reports", key: made.Text, body: body},
		{method: "POST", path: base + "/reports", key: token, body: body},
		{method: "POST", path: base + "/reports", key: made.Text[:len(made.Text)-1] + "x", body: body},
		{method: "POST", path: base + "/reports", key: made.Text, body: []byte(`{"canary-field":"canary-value"`)},
		{path: base + "/keys", key: made.Text},
		{path: base, cookie: cookie},
		{path: base + "/series?canary-query=canary-value", key: admin},
		{path: "/v1/projects/canary-slug", key: admin},
		{path: "/v1/canary-route", key: admin},
		{path: base, header: map[string]string{"Authorization": "Basic canary-basic"}},
		{path: base, key: "pawl_canary_not-a-key"},
		{path: base, header: map[string]string{"X-Forwarded-For": "canary-address"}},
	} {
		ask(q)
	}
	secrets := map[string]string{"a key": made.Text, "an admin's key": admin, "a token": token, "its signature": token[strings.LastIndex(token, ".")+1:], "a cookie": cookie, "a hook's secret": "canary-hook-secret", "a hook's path": "canary-path"}
	dump := w.dump()
	for what, secret := range secrets {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log holds %s", what)
		}
		if strings.Contains(told.String(), secret) {
			t.Errorf("an answer holds %s", what)
		}
		// What a hook is told is signed, and for that the secret is needed.
		if strings.Contains(dump, secret) && !strings.Contains(what, "hook") {
			t.Errorf("the database holds %s", what)
		}
	}
	if at := strings.Index(w.log.String(), "canary"); at >= 0 {
		t.Errorf("the log repeats what strangers write: %.200s", w.log.String()[max(0, at-100):])
	}
	if !strings.Contains(w.log.String(), `"actor":"key 2"`) {
		t.Error("the log does not say which key was used")
	}
	if !strings.Contains(dump, made.Prefix) {
		t.Error("the dump does not hold what it must: this test could not fail")
	}
}

// Headers that keep a page of ours from being used against its visitor are on every
// answer, also on those that refuse.
func TestSecureHeaders(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/v1/projects", "/v1/projects/none", "/nothing", "/v1/nothing", "/login/start"} {
		a := w.do(asked{path: path})
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=31536000",
			"Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q", path, name, got)
			}
		}
		if len(a.Header.Get("X-Request-Id")) != 16 {
			t.Errorf("%s has no number", path)
		}
	}
}

// A page of another site cannot act in a visitor's name.
func TestCrossSiteRequestsAreRefused(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	cookie, _ := w.person("ada", map[int64]store.Role{p.ID: store.Admin})
	change := asked{method: "PATCH", path: "/v1/projects/kernels", cookie: cookie, json: map[string]any{"public": true}}
	for _, header := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}} {
		q := change
		q.header = header
		if a := w.do(q); a.StatusCode != http.StatusForbidden || a.problem(t).word() != "cross-origin" {
			t.Errorf("%v: %d %s", header, a.StatusCode, a.body)
		}
	}
	// A form can send text, and no JSON without asking first.
	q := change
	q.header = map[string]string{"Content-Type": "text/plain"}
	w.want(http.StatusUnsupportedMediaType, q)
	var project client.Project
	w.want(200, asked{path: "/v1/projects/kernels", cookie: cookie}).into(t, &project)
	if project.Public {
		t.Error("it was changed")
	}
	w.want(200, change)
}
