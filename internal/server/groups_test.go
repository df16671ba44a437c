package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// What is said of a group is said of each of its events, but for those of which somebody
// said something else.
func TestAGroupIsAnsweredAtOnce(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("open", true)
	writer, _ := w.person("writer", map[int64]store.Role{f.ID: store.Writer})
	viewer, _ := w.person("viewer", map[int64]store.Role{f.ID: store.Viewer})
	e, err := w.store.Event(t.Context(), f.ID, f.event)
	if err != nil || e.Group == 0 {
		t.Fatal(e, err)
	}
	path := f.fill("/v1/projects/{project}/groups/{id}")
	state := func() (client.EventState, string) {
		e, err := w.store.Event(t.Context(), f.ID, f.event)
		if err != nil {
			t.Fatal(err)
		}
		return e.State, e.Note
	}
	patch := func(cookie string, status int, body map[string]any) {
		t.Helper()
		w.want(status, asked{method: "PATCH", path: path, cookie: cookie, json: body, header: map[string]string{"Sec-Fetch-Site": "same-origin"}})
	}
	patch(viewer, http.StatusForbidden, map[string]any{"state": "fixed"})
	patch(writer, http.StatusBadRequest, map[string]any{"state": "forgotten"})
	patch(writer, http.StatusBadRequest, map[string]any{"note": "no state"})
	patch(writer, http.StatusBadRequest, map[string]any{"from": "lost", "state": "fixed"})
	patch(writer, http.StatusBadRequest, map[string]any{"state": "fixed", "note": strings.Repeat("x", client.MaxText+1)})
	w.want(http.StatusNotFound, asked{method: "PATCH", path: "/v1/projects/open/groups/999", cookie: writer, json: map[string]any{"state": "fixed"}, header: map[string]string{"Sec-Fetch-Site": "same-origin"}})
	if got, _ := state(); got != client.EventNew {
		t.Fatalf("what was refused was done: %s", got)
	}
	patch(writer, http.StatusOK, map[string]any{"from": "acknowledged", "state": "fixed"})
	if got, note := state(); got != client.EventNew || note != e.Note {
		t.Errorf("an event that is new was taken for one that is acknowledged: %s, %q", got, note)
	}
	patch(writer, http.StatusOK, map[string]any{"from": "new", "state": "acknowledged"})
	if got, note := state(); got != client.EventAcknowledged || note != e.Note {
		t.Errorf("%s, %q", got, note)
	}

	form := url.Values{"state": {"false-alarm"}, "note": {"the fan"}, "back": {"/p/open/events?state=all"}, "from": {""}}
	a := w.do(asked{
		method: "POST", path: f.fill("/p/{project}/groups/{id}"), cookie: writer, body: []byte(form.Encode()),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/p/open/events?state=all" {
		t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if got, note := state(); got != client.EventFalseAlarm || note != "the fan" {
		t.Errorf("%s, %q", got, note)
	}
	lines, err := w.store.AuditLog(t.Context(), f.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	said := slices.DeleteFunc(lines, func(l store.Entry) bool { return l.Action != "group.update" })
	if len(said) != 2 { // what changed nothing is no deed
		t.Errorf("%d lines of the audit: %+v", len(said), said)
	}
}
