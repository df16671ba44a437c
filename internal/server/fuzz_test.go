package server

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Whatever stands in a query is taken or refused; what is taken is within its bounds.
func FuzzQuestion(f *testing.F) {
	for _, q := range []string{"limit=5&cursor=" + cursorAt("runs", 3), "limit=0", "since=2026-11-15&lane=main", "a=%zz", "from=2026-11-15T12:00:00Z&limit=1&limit=2", "id=-1", "=", ";"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q := ask(&http.Request{URL: &url.URL{RawQuery: raw}}, "limit", "cursor", "since", "lane", "id")
		limit, cursor, since, lane, id := q.limit(), q.cursor("runs"), q.time("since"), q.oneOf("lane", lanes...), q.id("id")
		if q.err != nil {
			return
		}
		if limit < 1 || limit > listMost || cursor < 0 || id < 0 || since.Year() > 3000 || lane != "" && len(lane) > 6 {
			t.Errorf("%q: %d %d %v %q %d", raw, limit, cursor, since, lane, id)
		}
		if text := q.text("cursor"); text != "" {
			if raw, err := base64.RawURLEncoding.DecodeString(text); err != nil || !strings.HasPrefix(string(raw), "runs:") {
				t.Errorf("a cursor of another list was taken: %q", text)
			}
		}
	})
}

// Nobody makes a login that we began but ourselves.
func FuzzOpenAttempt(f *testing.F) {
	s := &Server{secret: make([]byte, 32), now: time.Now}
	good := s.seal(newAttempt("/", time.Now()))
	if _, ok := s.open(good); !ok {
		f.Fatal("our own was not taken")
	}
	for _, seed := range []string{"", ".", good[:len(good)-1], "e30." + strings.Repeat("A", 43)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sealed string) {
		if _, ok := s.open(sealed); ok && sealed != good {
			t.Errorf("%q was taken", sealed)
		}
	})
}

// What no database can keep as text is refused at the door, wherever it stands.
func TestWhatIsNoText(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("orchard", true)
	key := w.key(f.Project, store.ScopeAdmin)
	for _, path := range []string{
		"/v1/projects/%00", "/v1/projects/%ff", "/v1/projects/orchard/series?text=%00", "/v1/projects/orchard/series?text=%ff", "/v1/projects/orchard/runs?commit=a%00b",
		"/v1/projects/orchard/suites/%00/heat", "/p/%00", "/search?q=%00", "/p/orchard/series?text=%ff", "/login?next=%00", "/v1/projects?x=%",
	} {
		w.want(400, asked{path: path, key: key})
	}
	zero := "a\x00b"
	for path, body := range map[string]any{
		"/keys": map[string]any{"name": zero, "scopes": []string{"read"}}, "/hooks": map[string]any{"kind": "slack", "url": "https://x.example/" + zero},
		"/rules": map[string]any{"repository_id": 5, "owner_id": 6, "default_branch": zero, "events": []string{"push"}, "workflow": ".github/workflows/a.yml"},
	} {
		w.want(400, asked{method: "POST", path: "/v1/projects/orchard" + path, key: key, json: body})
	}
	w.want(400, asked{method: "PATCH", path: "/v1/projects/orchard", key: key, json: map[string]any{"name": zero}})
	w.want(400, asked{method: "PATCH", path: f.fill("/v1/projects/{project}/events/{id}"), key: key, json: map[string]any{"note": zero}})
	w.want(400, asked{method: "PATCH", path: "/v1/projects/orchard", key: key, body: []byte("{\"name\":\"\xff\"}")})
}
