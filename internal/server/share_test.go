package server

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// linkTo makes a public link to a series and returns its path.
func (w *world) linkTo(slug, key string, series int64) (path string, id int64) {
	w.t.Helper()
	var made createdLink
	w.want(http.StatusCreated, asked{
		method: "POST", path: "/v1/projects/" + slug + "/links", key: key,
		json: map[string]any{"series": series, "name": "a talk", "expires": time.Now().Add(time.Hour)},
	}).into(w.t, &made)
	path, ok := strings.CutPrefix(made.URL, publicURL)
	if !ok || !strings.HasPrefix(path, "/s/link_") {
		w.t.Fatalf("the link is %s", made.URL)
	}
	return path, made.ID
}

// checkSVG reads an answer as an SVG file without anything that could run.
func checkSVG(t testing.TB, a answered) {
	t.Helper()
	if kind := a.Header.Get("Content-Type"); kind != "image/svg+xml" {
		t.Errorf("it is %s", kind)
	}
	for d := xml.NewDecoder(strings.NewReader(string(a.body))); ; {
		token, err := d.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Errorf("%v in %s", err, a.body)
			}
			return
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "svg", "title", "desc", "style", "rect", "path", "text", "circle", "g":
		default:
			t.Errorf("it has <%s>", e.Name.Local)
		}
		for _, at := range e.Attr {
			if strings.HasPrefix(at.Name.Local, "on") || at.Name.Local == "href" {
				t.Errorf("<%s> has %s", e.Name.Local, at.Name.Local)
			}
		}
	}
}

// A link shows one series of a private project, and nothing else of it, until it is revoked or expires.
func TestLink_ShowsOneSeries(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	admin := w.key(p, store.ScopeAdmin)
	w.sent("kernels", admin, example(1, 2))
	first := w.firstSeries(p.ID)
	path, id := w.linkTo("kernels", admin, first)
	page := w.want(http.StatusOK, asked{path: path})
	if text := string(page.body); !strings.Contains(text, "attention/D0") || strings.Contains(text, "attention/D1") || strings.Contains(text, "/p/kernels") {
		t.Errorf("the page shows something else than one series: %s", text)
	}
	for _, name := range []string{"/chart.svg", "/badge.svg"} {
		checkSVG(t, w.want(http.StatusOK, asked{path: path + name}))
	}
	w.want(http.StatusUnauthorized, asked{path: "/p/kernels"})
	w.want(http.StatusUnauthorized, asked{path: fmt.Sprintf("/v1/projects/kernels/series/%d", first), key: strings.TrimPrefix(path, "/s/")})

	w.want(http.StatusNoContent, asked{method: "DELETE", path: fmt.Sprintf("/v1/projects/kernels/links/%d", id), key: admin})
	for _, name := range []string{"", "/chart.svg", "/badge.svg"} {
		w.want(http.StatusNotFound, asked{path: path + name})
	}
	path, _ = w.linkTo("kernels", admin, first)
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `update pawl.link set expires = now() - interval '1 second'`)
		return err
	})
	w.want(http.StatusNotFound, asked{path: path})

	var audit struct {
		Items []store.Entry `json:"items"`
	}
	w.want(http.StatusOK, asked{path: "/v1/projects/kernels/audit", key: admin}).into(t, &audit)
	var actions []string
	for _, e := range audit.Items {
		actions = append(actions, e.Action)
	}
	if got := strings.Join(actions, " "); got != "link.create link.remove link.create" {
		t.Errorf("the audit log has %s", got)
	}
	secret := strings.TrimPrefix(path, "/s/")
	if strings.Contains(w.log.String(), secret) || strings.Contains(w.dump(), secret) {
		t.Error("the text of a link is in the log or the database")
	}
}

func TestLink_IsBounded(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	admin := w.key(p, store.ScopeAdmin)
	w.sent("kernels", admin, example(1, 1))
	series := w.firstSeries(p.ID)
	ask := func(change map[string]any) asked {
		body := map[string]any{"series": series, "name": "a talk", "expires": time.Now().Add(time.Hour)}
		maps.Copy(body, change)
		return asked{method: "POST", path: "/v1/projects/kernels/links", key: admin, json: body}
	}
	w.want(http.StatusBadRequest, ask(map[string]any{"expires": time.Now().Add(400 * 24 * time.Hour)}))
	w.want(http.StatusBadRequest, ask(map[string]any{"expires": time.Now().Add(-time.Hour)}))
	w.want(http.StatusBadRequest, ask(map[string]any{"name": ""}))
	w.want(http.StatusNotFound, ask(map[string]any{"series": 4711}))
	w.want(http.StatusForbidden, asked{method: "POST", path: "/v1/projects/kernels/links", key: w.key(p, store.ScopeRead), json: ask(nil).json})
	for range 100 {
		w.want(http.StatusCreated, ask(nil))
	}
	w.want(http.StatusTooManyRequests, ask(nil))
}

// Badges and charts of a public project can be shown by other sites. Only charts can be framed.
func TestPictures(t *testing.T) {
	w := newWorld(t)
	p := w.project("open", true)
	r := example(1, 1)
	r.Points[0].Config = `<script>alert(1)</script>&"'`
	w.sent("open", w.key(p, store.ScopeReportMain), r)
	id := w.firstSeries(p.ID)
	for path, ancestors := range map[string]string{
		"/p/open/badge.svg":                            "'none'",
		fmt.Sprintf("/p/open/series/%d/badge.svg", id): "'none'",
		fmt.Sprintf("/p/open/series/%d/chart.svg", id): "*",
	} {
		a := w.want(http.StatusOK, asked{path: path})
		checkSVG(t, a)
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.HasSuffix(policy, "frame-ancestors "+ancestors) {
			t.Errorf("%s: the policy is %s", path, policy)
		}
		if a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
			t.Errorf("%s cannot be shown by other sites", path)
		}
		w.want(http.StatusNotModified, asked{path: path, header: map[string]string{"If-None-Match": a.Header.Get("ETag")}})
	}
	if a := w.want(http.StatusOK, asked{path: fmt.Sprintf("/p/open/series/%d", id)}); !strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Error("a page can be framed")
	}
	before := w.want(http.StatusOK, asked{path: "/p/open/badge.svg"})
	w.event(p.ID)
	after := w.want(http.StatusOK, asked{path: "/p/open/badge.svg"})
	if !strings.Contains(string(before.body), "no open regressions") || !strings.Contains(string(after.body), "1 open regression") {
		t.Errorf("before an event:\n%s\nafter it:\n%s", before.body, after.body)
	}
}
