package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// paths are every page of a furnished project that a viewer may see. TestLimitsAreShown and TestSettings have those for admins.
func (f furnished) paths() []string {
	at := "/p/" + f.Slug
	return []string{
		at, at + "/series", at + "/series/1", at + "/chart?series=1,2", fmt.Sprintf("%s/compare?a=1.%d&b=1.%d", at, f.run.Report, f.run.Report), at + "/runs", fmt.Sprintf("%s/runs/%d", at, f.run.Report),
		at + "/live/" + f.live, at + "/testbeds/1", at + "/suites", at + "/suites/" + secretText, at + "/events?state=all", at + "/groups/1", at + "/fleet",
	}
}

func TestPagesNeedTheRightToRead(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("closed", false)
	w.project("elsewhere", true)
	stranger, _ := w.person("stranger", nil)
	member, _ := w.person("member", map[int64]store.Role{f.ID: store.Viewer})
	if got, want := len(f.paths()), len(projectPages)-2; got != want {
		t.Fatalf("%d of %d pages are tried", got, want)
	}
	for _, path := range f.paths() {
		seen := w.want(http.StatusOK, asked{path: path, cookie: member})
		if kind := seen.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" || !strings.Contains(string(seen.body), "</html>") {
			t.Errorf("%s: %s\n%s", path, kind, seen.body)
		}
		for who, answer := range map[string]answered{"nobody": w.want(http.StatusUnauthorized, asked{path: path}), "a stranger": w.want(http.StatusNotFound, asked{path: path, cookie: stranger})} {
			if strings.Contains(string(answer.body), secretText) && !strings.Contains(path, secretText) {
				t.Errorf("%s: %s sees what they may not", path, who)
			}
		}
		// The same numbers in a project that everybody may read: nothing of the other is there.
		other := w.do(asked{path: strings.Replace(path, "/closed", "/elsewhere", 1)})
		if other.StatusCode >= 500 || strings.Contains(string(other.body), "attention: keep") || strings.Contains(string(other.body), secretText+"<") {
			t.Errorf("%s in another project: %d", path, other.StatusCode)
		}
	}
	for _, path := range []string{"/", "/search?q=" + secretText} {
		if strings.Contains(string(w.want(200, asked{path: path}).body), "/p/closed") {
			t.Errorf("%s tells of a project that is not public", path)
		}
		if !strings.Contains(string(w.want(200, asked{path: path, cookie: member}).body), "/p/closed") {
			t.Errorf("%s does not tell a member of their project", path)
		}
	}
}

func TestEventsAreAnsweredByForm(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("open", true)
	writer, _ := w.person("writer", map[int64]store.Role{f.ID: store.Writer})
	viewer, _ := w.person("viewer", map[int64]store.Role{f.ID: store.Viewer})
	form := func(cookie, state, back string) answered {
		values := url.Values{"state": {state}, "note": {"seen <b>"}, "back": {back}}
		return w.do(asked{
			method: "POST", path: fmt.Sprintf("/p/open/events/%d", f.event), cookie: cookie, body: []byte(values.Encode()),
			header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		})
	}
	if page := string(w.want(200, asked{path: "/p/open/events", cookie: viewer}).body); strings.Contains(page, `value="acknowledged"`) {
		t.Error("who may not answer is offered to")
	}
	if page := string(w.want(200, asked{path: "/p/open/events", cookie: writer}).body); !strings.Contains(page, `value="acknowledged"`) {
		t.Error("who may answer is not offered to")
	}
	for _, c := range []struct {
		cookie, state, back string
		status              int
		to                  string
	}{
		{viewer, "fixed", "", http.StatusForbidden, ""},
		{"", "fixed", "", http.StatusUnauthorized, ""},
		{writer, "forgotten", "", http.StatusBadRequest, ""},
		{writer, "fixed", "/p/open/events?state=all", http.StatusSeeOther, "/p/open/events?state=all"},
		{writer, "acknowledged", "https://evil.example/", http.StatusSeeOther, "/p/open/events"},
	} {
		if a := form(c.cookie, c.state, c.back); a.StatusCode != c.status || a.Header.Get("Location") != c.to {
			t.Errorf("%+v: %d to %q\n%s", c, a.StatusCode, a.Header.Get("Location"), a.body)
		}
	}
	e, err := w.store.Event(t.Context(), f.ID, f.event)
	if err != nil || e.State != client.EventAcknowledged || e.Note != "seen <b>" {
		t.Errorf("the event is %s, %q: %v", e.State, e.Note, err)
	}
	cross := asked{method: "POST", path: fmt.Sprintf("/p/open/events/%d", f.event), cookie: writer, body: []byte("state=new"), header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "cross-site"}}
	w.want(http.StatusForbidden, cross)
}

func TestPagesThatAreNone(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("open", true)
	for path, status := range map[string]int{
		"/nothing": 404, "/p/open/nothing": 404, "/p/open/series/0": 404, "/p/open/series/999": 404, "/p/open/runs/x": 404, "/p/open/runs/999": 404, "/p/open/testbeds/999": 404, "/p/open/groups/999": 404,
		"/p/open/suites/unknown": 404, "/p/open/compare": 200, "/p/open/compare?a=1.1&b=x": 400, "/p/open/settings": 403, "/p/open/limits": 403,
		"/p/open/series?order=size": 400, "/p/open/series?days=0": 400, "/p/open/chart": 200, "/p/open/chart?series=x": 400, "/p/open/chart?series=1,2,3,4,5,6,7,8,9": 400, "/p/open/chart?by=size": 400, fmt.Sprintf("/p/open/compare?a=999.%d&b=1.1", f.run.Report): 404,
		"/p/open?days=0": 400, "/p/open/series/1?from=yesterday": 400, "/p/open/series/1?buckets=1": 400, "/p/open/events?state=lost": 400, "/p/open/runs?cursor=x": 400,
		"/p/open?utm_source=elsewhere": 200, "/search?q=" + strings.Repeat("x", 201): 400, "/p/%00": 400, "/search?q=%00": 400, "/p/open/runs?commit=%ff": 400,
	} {
		a := w.do(asked{path: path})
		if a.StatusCode != status || !strings.Contains(string(a.body), "<h1>") || strings.Contains(a.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %d, want %d\n%.400s", path, a.StatusCode, status, a.body)
		}
	}
}

func TestPagesArePackedForWhoCanUnpack(t *testing.T) {
	w := newWorld(t)
	w.furnish("open", true)
	packed := w.want(200, asked{path: "/p/open", header: map[string]string{"Accept-Encoding": "gzip"}})
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.body[0] != 0x1f {
		t.Errorf("%v", packed.Header)
	}
	if whole := w.want(200, asked{path: "/p/open", header: map[string]string{"Accept-Encoding": "identity"}}); whole.Header.Get("Content-Encoding") != "" || len(whole.body) < 2*len(packed.body) {
		t.Errorf("%d bytes, packed %d", len(whole.body), len(packed.body))
	}
}
