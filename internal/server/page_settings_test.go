package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// submit sends a form as a browser does.
func (w *world) submit(path, cookie string, values url.Values, header map[string]string) answered {
	w.t.Helper()
	all := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
	maps.Copy(all, header)
	return w.do(asked{method: "POST", path: path, cookie: cookie, body: []byte(values.Encode()), header: all})
}

func TestSettings(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("closed", false)
	admin, _ := w.person("admin", map[int64]store.Role{f.ID: store.Admin})
	writer, writerID := w.person("writer", map[int64]store.Role{f.ID: store.Writer})
	const at = "/p/closed/settings"
	page := func() string { return string(w.want(200, asked{path: at, cookie: admin}).body) }
	if got := page(); !strings.Contains(got, "hooks.example/...") || strings.Contains(got, "hooks.example/"+secretText) || !strings.Contains(got, "member-of-closed") || !strings.Contains(got, secretText) {
		t.Errorf("%s", got)
	}
	// The link is for those who may follow it.
	for cookie, want := range map[string]bool{admin: true, writer: false} {
		if got := strings.Contains(string(w.want(200, asked{path: "/p/closed", cookie: cookie}).body), `href="`+at+`"`); got != want {
			t.Errorf("a link to the settings: %v, want %v", got, want)
		}
	}
	w.want(http.StatusForbidden, asked{path: at, cookie: writer})

	with := func(pairs ...string) url.Values {
		v := url.Values{"back": {at}}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	for _, c := range []struct {
		path   string
		values url.Values
	}{
		{"/project", with("name", "Kernels", "repository", "https://forge.example/a/b", "default_branch", "trunk", "public", "1")},
		{"/retention", with("sample_days", "30", "branch_days", "7")},
		{"/members", with("subject", "carol", "role", "viewer")},
		{fmt.Sprintf("/members/%d", writerID), with("role", "viewer")},
		{fmt.Sprintf("/members/%d", f.account), with()},
		{"/hooks", with("kind", "json", "url", "https://other.example/x", "secret", "0123456789abcdef")},
		{fmt.Sprintf("/hooks/%d", f.hook), with()},
		{fmt.Sprintf("/keys/%d", f.key), with()},
	} {
		for _, refused := range []struct {
			cookie string
			header map[string]string
			status int
		}{
			{"", nil, http.StatusUnauthorized},
			{writer, nil, http.StatusForbidden},
			{admin, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		} {
			if a := w.submit(at+c.path, refused.cookie, c.values, refused.header); a.StatusCode != refused.status {
				t.Errorf("%s: %d, want %d\n%s", c.path, a.StatusCode, refused.status, a.body)
			}
		}
		if a := w.submit(at+c.path, admin, c.values, nil); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != at {
			t.Errorf("%s: %d to %q\n%s", c.path, a.StatusCode, a.Header.Get("Location"), a.body)
		}
	}
	p, err := w.store.Project(t.Context(), "closed")
	if err != nil || p.Name != "Kernels" || p.Branch != "trunk" || !p.Public || p.Settings.SampleDays != 30 || p.Settings.BranchDays != 7 {
		t.Errorf("%+v, %v", p, err)
	}
	got := page()
	for text, want := range map[string]bool{"carol": true, "member-of-closed": false, "other.example/...": true, "hooks.example": false, "revoked": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("the page has %q: %v, want %v\n%s", text, !want, want, got)
		}
	}
	if role, err := w.store.RoleOf(t.Context(), f.ID, writerID); err != nil || role != store.Viewer {
		t.Errorf("%s, %v", role, err)
	}
}

// A new key is shown once, and works.
func TestSettings_NewKey(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	admin, _ := w.person("admin", map[int64]store.Role{p.ID: store.Admin})
	a := w.submit("/p/kernels/settings/keys", admin, url.Values{"name": {"ci <b>"}, "scope": {"read", "report"}, "days": {"30"}}, nil)
	text := regexp.MustCompile(`pawl_[0-9A-Za-z_]+`).FindString(string(a.body))
	if a.StatusCode != http.StatusOK || text == "" || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v\n%s", a.StatusCode, a.Header, a.body)
	}
	w.want(200, asked{path: "/v1/projects/kernels", key: text})
	if page := string(w.want(200, asked{path: "/p/kernels/settings", cookie: admin}).body); strings.Contains(page, text) || !strings.Contains(page, "ci &lt;b&gt;") || !strings.Contains(page, "read, report") {
		t.Errorf("%s", page)
	}
	for _, bad := range []url.Values{{"name": {"x"}}, {"name": {""}, "scope": {"read"}}, {"name": {"x"}, "scope": {"king"}}, {"name": {"x"}, "scope": {"read"}, "days": {"-1"}}, {"name": {"x"}, "scope": {"read"}, "days": {"soon"}}, {"name": {"x\x00"}, "scope": {"read"}}} {
		if a := w.submit("/p/kernels/settings/keys", admin, bad, nil); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %d\n%s", bad, a.StatusCode, a.body)
		}
	}
}
