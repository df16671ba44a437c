package browser_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Every page works without script, with it, in the dark and on a phone; axe finds nothing
// wrong with it, and it asks nobody but its own server. PAWL_PICTURES=FOLDER keeps
// pictures for the docs.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newSite(t)
	size := demo.Size{Days: 150, Commits: 1, Configs: 2}
	pictures := os.Getenv("PAWL_PICTURES")
	if pictures != "" {
		size = demo.Size{Commits: 1}
	}
	s.fill(t, size)
	series, report, before := s.someSeries(t)
	pages := []map[string]any{
		{"name": "projects", "path": "/"},
		{"name": "overview", "path": "/p/kernels?days=30", "picture": "light phone"},
		{"name": "series", "path": fmt.Sprintf("/p/kernels/series/%d", series), "picture": "light phone"},
		{"name": "series-list", "path": "/p/kernels/series?text=flash"},
		{"name": "compare", "path": fmt.Sprintf("/p/kernels/compare?a=%d.%d&b=%d.%d", series, before, series, report), "picture": "light"},
		{"name": "run", "path": fmt.Sprintf("/p/kernels/runs/%d", report), "picture": "light"},
		{"name": "old-run", "path": "/p/kernels/runs/1"},
		{"name": "runs", "path": "/p/kernels/runs?lane=branch"},
		{"name": "testbed", "path": "/p/kernels/testbeds/1", "picture": "light"},
		{"name": "heat", "path": "/p/kernels/suites/blocks?testbed=2", "picture": "dark"},
		{"name": "heat-numbers", "path": "/p/kernels/suites/blocks?numbers=1&commits=20"},
		{"name": "events", "path": "/p/kernels/events?state=all", "picture": "light"},
		{"name": "cause", "path": fmt.Sprintf("/p/kernels/groups/%d", s.someGroup(t)), "picture": "light"},
		{"name": "search", "path": "/search?q=matmul"},
		{"name": "login", "path": "/login"},
		{"name": "missing", "path": "/p/kernels/nothing", "status": 404},
		{"name": "wrong", "path": "/p/kernels?days=never", "status": 400},
		{"name": "private", "path": "/p/other", "status": 401},
	}
	tell(t, browse(t, "pages.mjs", map[string]any{"url": s.url, "pages": pages, "pictures": pictures, "series": fmt.Sprintf("/p/kernels/series/%d", series)}))
}

// someGroup is a group with many events.
func (s *site) someGroup(t *testing.T) int64 {
	t.Helper()
	list, err := s.store.Groups(t.Context(), s.project.ID, eventstore.GroupQuery{})
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	return slices.MaxFunc(list, func(a, b client.Group) int { return cmp.Compare(a.Series, b.Series) }).ID
}

// someSeries is one with a change near its end, and the reports after and before it.
func (s *site) someSeries(t *testing.T) (series, after, before int64) {
	t.Helper()
	list, err := s.store.SeriesList(t.Context(), s.project.ID, store.SeriesQuery{Text: "matmul", Lane: "main", Testbed: 2})
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	points, err := s.store.Points(t.Context(), s.project.ID, list[0].ID, pointstore.Range{})
	if err != nil || len(points) < 20 {
		t.Fatal(len(points), err)
	}
	for i, p := range points {
		if p.Report > 1 && p.At.After(now.AddDate(0, 0, -20)) && p.Value > points[i-1].Value*1.05 {
			return list[0].ID, p.Report, points[i-1].Report
		}
	}
	t.Fatal("the made-up year has no change near its end")
	return 0, 0, 0
}
