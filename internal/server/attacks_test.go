package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// attack is one request that must not work.
type attack struct {
	kind, name string
	asked
	want []int // statuses; empty means 401, 403 or 404
}

// refusals are what a request without the right to ask gets.
var refusals = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}

// attempts returns requests against the private project a, by the owner of project b and by others. link is a public link of b.
func attempts(a, b furnished, key, cookie, link string) []attack {
	var all []attack
	add := func(kind, name string, q asked, want ...int) { all = append(all, attack{kind, name, q, want}) }
	for path := range projectPages {
		add("foreign pages", path+" with a key of another project", asked{path: a.fill(path), key: key})
	}
	for _, path := range []string{"/p/{project}/badge.svg", "/p/{project}/series/{id}/badge.svg", "/p/{project}/series/{id}/chart.svg"} {
		add("foreign pictures", path+" anonymously", asked{path: a.fill(path)})
		add("foreign pictures", path+" with a key of another project", asked{path: a.fill(path), key: key})
		add("foreign pictures", path+" as an admin of another project", asked{path: a.fill(path), cookie: cookie})
		add("foreign pictures", path+" with a number of another project", asked{path: strings.Replace(a.fill(path), a.Slug, b.Slug, 1)})
	}
	for _, kind := range []string{"series", "runs", "testbeds", "events", "groups", "keys", "rules", "hooks", "links"} {
		path := fmt.Sprintf("/v1/projects/%s/%s/", b.Slug, kind)
		add("foreign numbers", kind+" of another project by number", asked{method: "DELETE", path: path + "999983", key: key}, http.StatusNotFound, http.StatusMethodNotAllowed)
	}
	add("foreign numbers", "a link to a series of another project", asked{
		method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key,
		json: map[string]any{"series": 1, "name": "theirs", "expires": time.Now().Add(time.Hour)},
	}, http.StatusNotFound)

	secret := strings.TrimPrefix(link, "/s/")
	number, rest, _ := strings.Cut(strings.TrimPrefix(secret, "link_"), "_")
	for name, text := range map[string]string{
		"of no form": "x", "empty": "link_", "another project's number": "link_1" + number + "_" + rest, "one character changed": secret[:len(secret)-1] + flip(secret[len(secret)-1]),
		"in capitals": strings.ToUpper(secret), "with a space": secret + "%20", "with a zero byte": secret + "%00", "twice": secret + secret, "a key": key, "its hash": strings.Repeat("a", 64),
		"a folder up": "..%2f" + secret, "a very long one": "link_1_" + strings.Repeat("A", 5000), "SQL": "link_1_'%20or%20'1'%3D'1", "half a character": "link_%ff",
	} {
		for _, of := range []string{"", "/chart.svg"} {
			add("guessed links", name+of, asked{path: "/s/" + text + of}, http.StatusNotFound, http.StatusBadRequest)
		}
	}
	add("guessed links", "a link as a key", asked{path: "/v1/projects/" + b.Slug, key: secret}, http.StatusUnauthorized)
	add("guessed links", "a link as a cookie", asked{path: "/p/" + b.Slug, cookie: secret}, http.StatusUnauthorized)
	add("guessed links", "another page through a link", asked{path: link + "/runs"}, http.StatusNotFound)
	add("guessed links", "a link with another series", asked{path: link + "/series/1/chart.svg"}, http.StatusNotFound)

	for _, path := range []string{
		"/p/" + a.Slug + "/../" + b.Slug, "/p/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fserver.go", "/assets/../page_shared.go", "/p/" + a.Slug + "%2f", "/p//badge.svg", "/s//chart.svg",
		"/p/" + b.Slug + "/series/-1/chart.svg", "/p/" + b.Slug + "/series/0/chart.svg", "/p/" + b.Slug + "/series/9223372036854775808/chart.svg", "/p/" + b.Slug + "/series/1e3/badge.svg",
		"/p/" + b.Slug + "/series/0x1/badge.svg", "/p/" + b.Slug + "/series/%31%2f/badge.svg", "/v1/projects/" + b.Slug + "%2fkeys", "/v1/projects/" + b.Slug + "/links/..%2fkeys",
	} {
		add("paths", path, asked{path: path, key: key}, http.StatusNotFound, http.StatusBadRequest, http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusUnauthorized, http.StatusMethodNotAllowed)
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, path := range []string{link, link + "/chart.svg", "/p/" + b.Slug + "/badge.svg", "/search?q=attention"} {
			add("methods", method+" "+strings.Replace(path, secret, "LINK", 1), asked{method: method, path: path, cookie: cookie}, http.StatusMethodNotAllowed, http.StatusNotFound)
		}
	}
	for name, header := range map[string]map[string]string{
		"from another site": {"Sec-Fetch-Site": "cross-site"}, "from a neighbor": {"Sec-Fetch-Site": "same-site"}, "with a foreign origin": {"Origin": "https://evil.example"}, "as a form": {"Content-Type": "text/plain"},
	} {
		for _, route := range []string{"/links", "/keys", "/hooks"} {
			body := map[string]any{"series": 1, "name": "x", "expires": time.Now().Add(time.Hour)}
			add("other sites", "POST "+route+" "+name, asked{method: "POST", path: "/v1/projects/" + b.Slug + route, cookie: cookie, json: body, header: header},
				http.StatusForbidden, http.StatusUnsupportedMediaType)
		}
	}
	for name, q := range map[string]asked{
		"a search text":   {path: "/search?q=" + strings.Repeat("x", 201)},
		"a filter":        {path: "/v1/projects/" + b.Slug + "/series?text=" + strings.Repeat("x", 1025), key: key},
		"a link's name":   {method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key, json: map[string]any{"series": 1, "name": strings.Repeat("x", 101), "expires": time.Now().Add(time.Hour)}},
		"a link's life":   {method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key, json: map[string]any{"series": 1, "name": "x", "expires": time.Now().Add(9000 * time.Hour)}},
		"a document":      {method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key, json: map[string]any{"name": strings.Repeat("x", 70<<10)}},
		"a deep document": {method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key, body: []byte(strings.Repeat("[", 20_000))},
		"a reason":        {method: "POST", path: fmt.Sprintf("/v1/projects/%s/runs/%d/exclude", b.Slug, b.run.Report), key: key, json: map[string]any{"reason": strings.Repeat("x", 501)}},
		"unknown fields":  {method: "POST", path: "/v1/projects/" + b.Slug + "/links", key: key, json: map[string]any{"project": a.ID, "series": 1, "name": "x", "expires": time.Now().Add(time.Hour)}},
	} {
		add("too large", name, q, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
	}
	return all
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// TestAttacks makes requests that must not work, and counts them. None of them changes anything or tells what a private project
// holds. The page about access says how many there are.
func TestAttacks(t *testing.T) {
	w := newWorld(t)
	a, b := w.furnish("orchard", false), w.furnish("brook", false)
	key := w.key(b.Project, store.ScopeAdmin)
	cookie, _ := w.person("admin-of-brook", map[int64]store.Role{b.ID: store.Admin})
	link, _ := w.linkTo("brook", key, w.firstSeries(b.ID))
	w.want(http.StatusOK, asked{path: link}) // it works
	before := w.fingerprint()
	all := attempts(a, b, key, cookie, link)
	for _, q := range all {
		want := q.want
		if len(want) == 0 {
			want = refusals
		}
		got := w.do(q.asked)
		if !slices.Contains(want, got.StatusCode) {
			t.Errorf("%s: %s: %d %.200s", q.kind, q.name, got.StatusCode, got.body)
		}
		if !strings.Contains(q.path, secretText) && strings.Contains(string(got.body), secretText) { // a page links back to its own path
			t.Errorf("%s: %s tells what a project holds: %.300s", q.kind, q.name, got.body)
		}
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("something was changed: before\n%s\nafter\n%s", before, after)
	}
	page, err := os.ReadFile("../../docs/reference/server-auth.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{fmt.Sprintf("`TestAttacks` makes %d attempts", len(all)), fmt.Sprintf("`TestStarvation` has %d cases", len(starvations))} {
		if !strings.Contains(string(page), said) {
			t.Errorf("docs/reference/server-auth.md does not say %q", said)
		}
	}
}

// starvations are ways to use up what others need. one is what the attacker asks for again and again until it is refused.
var starvations = []struct {
	name string
	one  func(n int) asked
}{
	{"searches", func(n int) asked { return asked{path: fmt.Sprintf("/search?q=word%d", n)} }},
	{"searches of one letter", func(int) asked { return asked{path: "/search?q=a"} }},
	{"guessed links", func(n int) asked { return asked{path: fmt.Sprintf("/s/link_%d_x", n)} }},
	{"guessed charts of links", func(n int) asked { return asked{path: fmt.Sprintf("/s/link_%d_x/chart.svg", n)} }},
	{"guessed keys", func(n int) asked { return asked{path: "/v1/projects/mine", key: fmt.Sprintf("pawl_%d_x", n)} }},
	{"badges of a project", func(int) asked { return asked{path: "/p/mine/badge.svg"} }},
	{"badges of a series", func(int) asked { return asked{path: "/p/mine/series/1/badge.svg"} }},
	{"charts", func(int) asked { return asked{path: "/p/mine/series/1/chart.svg"} }},
	{"series with a text", func(n int) asked { return asked{path: fmt.Sprintf("/v1/projects/mine/series?text=a%d", n)} }},
	{"a page of series with a text", func(n int) asked { return asked{path: fmt.Sprintf("/p/mine/series?text=a%d", n)} }},
	{"an overview", func(int) asked { return asked{path: "/p/mine"} }},
	{"points", func(int) asked { return asked{path: "/v1/projects/mine/series/1/points"} }},
	{"pages that do not exist", func(n int) asked { return asked{path: fmt.Sprintf("/nothing/%d", n)} }},
}

// One client that asks for something until it is refused takes nothing from a client of another address and another project.
func TestStarvation(t *testing.T) {
	for _, c := range starvations {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(conf *Config) {
				conf.Limits.PerAddress, conf.Limits.PerProject = Rate{0.001, 60}, Rate{0.001, 30}
				conf.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			})
			mine, other := w.project("mine", true), w.project("other", true)
			from := func(address string, q asked) answered {
				q.header = map[string]string{"X-Forwarded-For": address}
				return w.do(q)
			}
			for _, p := range []store.Project{mine, other} {
				if _, err := w.store.Ingest(w.ctx(), p.ID, store.Incoming{Key: client.Key(example(1, 1)), Report: example(1, 1), Lane: client.Main}); err != nil {
					t.Fatal(err)
				}
			}
			refused := false
			for n := 0; n < 100 && !refused; n++ {
				refused = from("192.0.2.1", c.one(n)).StatusCode == http.StatusTooManyRequests
			}
			if !refused {
				t.Error("100 requests in a row were answered")
			}
			for _, path := range []string{"/p/other", "/p/other/badge.svg", "/search?q=attention"} {
				if got := from("192.0.2.2", asked{path: path}); got.StatusCode != http.StatusOK {
					t.Errorf("another client: %s: %d %s", path, got.StatusCode, got.body)
				}
			}
		})
	}
}
