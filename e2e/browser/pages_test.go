package browser_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Every page works with and without script, in the dark and on a phone, has no violations that axe
// finds, and loads nothing from other servers. The answers to ten questions are where the docs say.
// PAWL_PICTURES=FOLDER keeps pictures of every page on a desktop and a phone, light and dark:
// docs/images has a few of them.
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
	s.answer(t, before, report)
	key := s.fillFleet(t)
	pages := []map[string]any{
		{"name": "projects", "path": "/"},
		{"name": "overview", "path": "/p/kernels?days=30"},
		{"name": "series", "path": fmt.Sprintf("/p/kernels/series/%d", series)},
		{"name": "series-list", "path": "/p/kernels/series?text=flash"},
		{"name": "series-worst", "path": "/p/kernels/series?order=worst&days=90"},
		{"name": "series-admin", "path": fmt.Sprintf("/p/kernels/series/%d", series), "admin": true},
		{"name": "chart", "path": "/p/kernels/chart?days=0&series=" + s.sameCase(t, series), "admin": true},
		{"name": "chart-commits", "path": "/p/kernels/chart?days=0&by=commit&show=values&series=" + s.sameCase(t, series)},
		{"name": "chart-empty", "path": "/p/kernels/chart"},
		{"name": "compare", "path": fmt.Sprintf("/p/kernels/compare?a=%d.%d&b=%d.%d", series, before, series, report)},
		{"name": "compare-runs", "path": fmt.Sprintf("/p/kernels/compare?a=run-%d&b=run-%d", before, report)},
		{"name": "compare-pick", "path": "/p/kernels/compare?a=zz"},
		{"name": "settings", "path": "/p/kernels/settings", "admin": true},
		{"name": "limits", "path": "/p/kernels/limits", "admin": true},
		{"name": "forbidden", "path": "/p/kernels/settings", "status": 403},
		{"name": "run", "path": fmt.Sprintf("/p/kernels/runs/%d", report)},
		{"name": "old-run", "path": "/p/kernels/runs/1"},
		{"name": "runs", "path": "/p/kernels/runs?lane=branch"},
		{"name": "testbed", "path": "/p/kernels/testbeds/1"},
		{"name": "heat", "path": "/p/kernels/suites/blocks?testbed=2"},
		{"name": "heat-numbers", "path": "/p/kernels/suites/blocks?numbers=1&commits=20"},
		{"name": "events", "path": "/p/kernels/events?state=all"},
		{"name": "cause", "path": fmt.Sprintf("/p/kernels/groups/%d", s.someGroup(t))},
		{"name": "fleet", "path": "/p/kernels/fleet", "key": key},
		{"name": "fleet-public", "path": "/p/kernels/fleet"},
		{"name": "search", "path": "/search?q=matmul"},
		{"name": "login", "path": "/login"},
		{"name": "missing", "path": "/p/kernels/nothing", "status": 404},
		{"name": "wrong", "path": "/p/kernels?days=never", "status": 400},
		{"name": "private", "path": "/p/other", "status": 401},
	}
	tell(t, browse(t, "pages.mjs", map[string]any{"url": s.url, "pages": pages, "pictures": pictures, "series": fmt.Sprintf("/p/kernels/series/%d", series), "flagged": s.flagged(t), "admin": s.admin(t)}))
}

// admin is the cookie of an admin of the project, which has a key and a hook to show.
func (s *site) admin(t *testing.T) string {
	t.Helper()
	account, err := s.store.SignIn(t.Context(), "https://login.example", "ada", "ada", "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, keyErr := s.store.NewKey(t.Context(), s.project.ID, store.Key{Name: "ci", Scopes: []store.Scope{store.ScopeReportMain}, CreatedBy: "account 1"})
	_, hookErr := s.store.AddHook(t.Context(), s.project.ID, alert.Hook{Kind: "slack", URL: "https://hooks.example/services/x"})
	const cookie = "the-cookie-of-an-admin-of-the-project"
	if err := errors.Join(keyErr, hookErr, s.store.SetMember(t.Context(), s.project.ID, account.ID, store.Admin), s.store.AddLogin(t.Context(), cookie, account.ID, now.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	return cookie
}

// sameCase are the numbers of the series of a case on all testbeds.
func (s *site) sameCase(t *testing.T, series int64) string {
	t.Helper()
	one, err := s.store.SeriesByID(t.Context(), s.project.ID, series)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.store.SeriesList(t.Context(), s.project.ID, store.SeriesQuery{Suite: one.Suite, Name: one.Name, Lane: client.Main, Limit: 8})
	if err != nil || len(list) < 2 {
		t.Fatal(len(list), err)
	}
	var ids []string
	for _, other := range list {
		ids = append(ids, fmt.Sprint(other.ID))
	}
	return strings.Join(ids, ",")
}

// flagged is the page of a series with a lasting change.
func (s *site) flagged(t *testing.T) string {
	t.Helper()
	list, err := s.store.Events(t.Context(), s.project.ID, eventstore.Query{Limit: 1})
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	return fmt.Sprintf("/p/kernels/series/%d", list[0].Series)
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
