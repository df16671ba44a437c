package daemon

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// openTest opens the parts of a server on a fresh database.
func openTest(t *testing.T) (*config, *components) {
	t.Helper()
	c := defaults(environment{})
	c.URL = "http://127.0.0.1:7295"
	c.Database.URL = identity.NewToken(storetest.URL(t))
	c.Database.MigrateURL = c.Database.URL
	c.Database.AllowUnsafe = true
	c.Blobs.URL = "file://" + t.TempDir()
	if err := migrate(t.Context(), c, logWriter{slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	p, err := openParts(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.close(t.Context()) })
	return c, p
}

func scrape(t *testing.T, m *metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("the metrics answer %d", w.Code)
	}
	return w.Body.String()
}

// However many paths, projects, methods and agents strangers invent, there are no more
// lines of metrics than routes make.
func TestMetricsAreBounded(t *testing.T) {
	c, p := openTest(t)
	if _, err := p.store.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "known", Name: "known", Public: true, Branch: "main"}}); err != nil {
		t.Fatal(err)
	}
	m := newMetrics()
	m.watch(p, &health{})
	s, err := p.server(c, m, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	handler := public(&health{ready: p.store.Ready}, s.Handler())
	r := rand.New(rand.NewPCG(1, 2))
	shapes := []string{"/%d", "/v1/%d", "/%d/../..", "/static/%d", "/%d.php", "/p/%d/x/y", "/a/%d", "/v1/projects/p%d/series", "/v1/projects/known/series/%d", "/p/known/series/%d"}
	methods := []string{"GET", "POST", "DELETE", "PURGE", "X%d"}
	send := func(n int) {
		for i := range n {
			method := methods[r.IntN(len(methods))]
			if strings.Contains(method, "%") {
				method = fmt.Sprintf(method, r.IntN(1000))
			}
			req := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
			req.URL.Path, req.URL.RawQuery, _ = strings.Cut(fmt.Sprintf(shapes[i%len(shapes)], r.IntN(1<<30)), "?")
			req.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", r.IntN(256), r.IntN(256), r.IntN(256)) // each a stranger: no limit of rates ends the test
			handler.ServeHTTP(httptest.NewRecorder(), req)
		}
	}
	send(2000)
	before := strings.Count(scrape(t, m), "\n")
	send(8000)
	after := scrape(t, m)
	// A rare status of a route may come late; names of strangers come by the thousand.
	if n := strings.Count(after, "\n"); n > before+200 || n > 5000 {
		t.Errorf("%d lines after 2,000 paths, %d after 10,000", before, n)
	}
	labels := regexp.MustCompile(`[{,]([a-z_]+)="`)
	allowed := []string{"route", "method", "code", "le", "reason", "job", "outcome", "again", "version", "commit", "quantile", "state"}
	for _, found := range labels.FindAllStringSubmatch(after, -1) {
		if !slices.Contains(allowed, found[1]) {
			t.Errorf("a label %q: only what the code can list may be one", found[1])
		}
	}
	if strings.Contains(after, `"known`) || strings.Contains(after, `method="PURGE"`) {
		t.Error("what a stranger chose stands among the metrics")
	}
}

// Every metric stands in the reference, and in no alert or dashboard is one that is not there.
func TestMetricsAreDocumented(t *testing.T) {
	_, p := openTest(t)
	m := newMetrics()
	m.watch(p, &health{})
	m.Request(t.Context(), "r", "GET", 200, time.Second)
	m.Ingested(1, false)
	m.Refused("rate")
	m.jobDone("look", time.Now(), nil)
	var names []string
	kinds := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (pawld_[a-z_]+) ([a-z]+)$`).FindAllStringSubmatch(scrape(t, m), -1) {
		names = append(names, found[1])
		kinds[found[1]] = found[2]
	}
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !strings.Contains(string(page), "| `"+n+"` | "+kinds[n]+" |") {
			t.Errorf("docs/reference/metrics.md does not name the %s %s", kinds[n], n)
		}
	}
	for _, file := range []string{"../../../docs/reference/metrics.md", "../../../deploy/alerts.yaml", "../../../deploy/dashboard.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range regexp.MustCompile(`\bpawld_[a-z_]+\b`).FindAllString(string(text), -1) {
			base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(n, "_bucket"), "_count"), "_sum")
			if !slices.Contains(names, n) && !slices.Contains(names, base) {
				t.Errorf("%s speaks of %s, which does not exist", file, n)
			}
		}
	}
}
