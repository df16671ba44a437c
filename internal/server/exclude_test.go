package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// An admin excludes, restores and deletes a run; the list says who and why.
func TestExcludeByAPI(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	report, admin := w.key(p, store.ScopeReport), w.key(p, store.ScopeAdmin)
	id := w.sent("kernels", report, example(1, 2)).Report
	path := fmt.Sprintf("/v1/projects/kernels/runs/%d", id)
	exclude := asked{method: "POST", path: path + "/exclude", key: admin, json: map[string]any{"reason": "wrong machine"}}
	w.want(http.StatusForbidden, asked{method: "POST", path: path + "/exclude", key: report, json: map[string]any{"reason": "x"}})
	w.want(http.StatusBadRequest, asked{method: "POST", path: path + "/exclude", key: admin, json: map[string]any{"reason": ""}})
	w.want(http.StatusNotFound, asked{method: "DELETE", path: path, key: admin})
	w.want(http.StatusNoContent, exclude)
	w.want(http.StatusNotFound, exclude)
	w.want(http.StatusNotFound, asked{path: path})
	w.want(http.StatusNotFound, asked{path: fmt.Sprintf("/p/kernels/runs/%d", id)})
	var list page[store.Excluded]
	w.want(http.StatusOK, asked{path: "/v1/projects/kernels/excluded/runs", key: admin}).into(t, &list)
	if len(list.Items) != 1 || list.Items[0].ID != id || list.Items[0].Reason != "wrong machine" || !strings.HasPrefix(list.Items[0].Actor, "key ") {
		t.Errorf("%+v", list)
	}
	if got := w.send("kernels", report, example(1, 2)); got.StatusCode != http.StatusOK {
		t.Errorf("the excluded run is sent again: %d %s", got.StatusCode, got.body)
	}
	w.want(http.StatusNoContent, asked{method: "POST", path: path + "/restore", key: admin})
	w.want(http.StatusOK, asked{path: path})
	w.want(http.StatusNoContent, exclude)
	w.want(http.StatusNoContent, asked{method: "DELETE", path: path, key: admin})
	w.want(http.StatusGone, asked{method: "POST", path: path + "/restore", key: admin})
}

// Every limit and its use is told to admins, as JSON and as a page.
func TestLimitsAreShown(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	admin := w.key(p, store.ScopeAdmin)
	w.store.SetBounds(store.Bounds{Series: 10, Hooks: 1})
	w.sent("kernels", admin, example(1, 3))
	var list page[store.Use]
	w.want(http.StatusOK, asked{path: "/v1/projects/kernels/limits", key: admin}).into(t, &list)
	found := map[string]store.Use{}
	for _, u := range list.Items {
		found[u.Name] = u
	}
	if found["series"].Used != 3 || found["series"].Limit != 10 || found["points today"].Used != 3 || found["queries and pages at once"].Used != 1 {
		t.Errorf("%+v", list.Items)
	}
	w.want(http.StatusForbidden, asked{path: "/v1/projects/kernels/limits", key: w.key(p, store.ScopeRead)})
	w.want(http.StatusForbidden, asked{path: "/p/kernels/limits"})
	cookie, _ := w.person("ada", map[int64]store.Role{p.ID: store.Admin})
	if a := w.want(http.StatusOK, asked{path: "/p/kernels/limits", cookie: cookie}); !strings.Contains(string(a.body), "bytes of files") {
		t.Errorf("%s", a.body)
	}
	// Many hooks, and many series.
	hook := asked{method: "POST", path: "/v1/projects/kernels/hooks", key: admin, json: map[string]any{"kind": "json", "url": "https://example.com/hook", "secret": "0123456789abcdef0123456789abcdef"}}
	w.want(http.StatusCreated, hook)
	for range 5 {
		w.want(http.StatusTooManyRequests, hook)
	}
	many := example(2, 1000)
	if a := w.send("kernels", admin, many); a.StatusCode != http.StatusTooManyRequests || a.problem(t).word() != "quota" {
		t.Errorf("%d series were taken: %d %s", len(many.Points), a.StatusCode, a.body)
	}
}

// A series is deleted like a run: excluded first, and then for good.
func TestDeleteSeriesByAPI(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	admin := w.key(p, store.ScopeAdmin)
	w.sent("kernels", admin, example(1, 2))
	path := fmt.Sprintf("/v1/projects/kernels/series/%d", w.firstSeries(p.ID))
	w.want(http.StatusForbidden, asked{method: "DELETE", path: path, key: w.key(p, store.ScopeRead)})
	w.want(http.StatusNotFound, asked{method: "DELETE", path: path, key: admin})
	w.want(http.StatusNoContent, asked{method: "POST", path: path + "/exclude", key: admin, json: map[string]any{"reason": "wrong kernel"}})
	w.want(http.StatusNoContent, asked{method: "DELETE", path: path, key: admin})
	w.want(http.StatusNotFound, asked{method: "DELETE", path: path, key: admin})
	w.want(http.StatusGone, asked{method: "POST", path: path + "/restore", key: admin})
	var list page[store.ExcludedSeries]
	w.want(http.StatusOK, asked{path: "/v1/projects/kernels/excluded/series", key: admin}).into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Deleted == nil {
		t.Errorf("%+v", list)
	}
}
