package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

const hookSecret = "0123456789abcdef0123456789abcdef"

var (
	hookHead   = strings.Repeat("a", 40)
	hookBefore = strings.Repeat("b", 40)
)

func pullEvent(action string, number int) string {
	return fmt.Sprintf(`{"action":%q,"pull_request":{"number":%d,"head":{"sha":%q}},"repository":{"full_name":"Octo/Kernels"}}`, action, number, hookHead)
}

func pushEvent(branch string) string {
	return fmt.Sprintf(`{"ref":"refs/heads/%s","before":%q,"after":%q,"repository":{"full_name":"octo/kernels"}}`, branch, hookBefore, hookHead)
}

func signedBy(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// hookWorld has a project that gates octo/kernels, and one that gates nothing.
func hookWorld(t *testing.T) (*world, *fakeFleet) {
	t.Helper()
	f := &fakeFleet{}
	w := newWorld(t, func(c *Config) { c.Fleet, c.Webhooks = f, github.Webhooks() })
	p := w.project("kernels", false)
	w.project("others", false)
	err := fleetstore.New(w.store.DB()).SetGated(t.Context(), p.ID, fleetstore.Gated{
		Repository: "octo/kernels", Suite: "pawl.yaml", Models: []string{"l4"}, Branches: []string{"main"}, Secret: hookSecret,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, f
}

// deliver sends a webhook as GitHub does.
func deliver(w *world, status int, project, event, body, signature string) answered {
	w.t.Helper()
	return w.want(status, asked{
		method: "POST", path: "/v1/projects/" + project + "/deliveries", body: []byte(body),
		header: map[string]string{github.EventHeader: event, github.SignatureHeader: signature, "Content-Type": "application/json"},
	})
}

func TestDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		project, event, body, secret string
		status                       int
		change                       string
		want                         gate.Event
	}{
		"a new pull request":      {"kernels", "pull_request", pullEvent("opened", 7), hookSecret, 202, "pull/7", gate.Event{Project: "kernels", Pull: 7, Head: hookHead}},
		"a closed pull request":   {"kernels", "pull_request", pullEvent("closed", 7), hookSecret, 202, "pull/7", gate.Event{Project: "kernels", Pull: 7, Head: hookHead, Closed: true}},
		"a push to main":          {"kernels", "push", pushEvent("main"), hookSecret, 202, "push/" + hookHead, gate.Event{Project: "kernels", Branch: "main", Before: hookBefore, Head: hookHead}},
		"a push to another":       {project: "kernels", event: "push", body: pushEvent("topic"), secret: hookSecret, status: 204},
		"a label":                 {project: "kernels", event: "pull_request", body: pullEvent("labeled", 7), secret: hookSecret, status: 204},
		"a ping":                  {project: "kernels", event: "ping", body: `{"zen":"x"}`, secret: hookSecret, status: 204},
		"another repository":      {project: "kernels", event: "pull_request", body: strings.Replace(pullEvent("opened", 7), "Octo/Kernels", "octo/other", 1), secret: hookSecret, status: 204},
		"another secret":          {project: "kernels", event: "pull_request", body: pullEvent("opened", 7), secret: "x" + hookSecret, status: 401},
		"a project without":       {project: "others", event: "pull_request", body: pullEvent("opened", 7), secret: hookSecret, status: 401},
		"a project without, ''":   {project: "others", event: "pull_request", body: pullEvent("opened", 7), secret: "", status: 401},
		"an unknown project":      {project: "nothing", event: "pull_request", body: pullEvent("opened", 7), secret: hookSecret, status: 401},
		"not an event":            {project: "kernels", event: "push", body: `{"ref": 7}`, secret: hookSecret, status: 400},
		"larger than it may be":   {project: "kernels", event: "push", body: strings.Repeat(" ", maxDelivery+1), secret: hookSecret, status: 413},
		"a commit out of nowhere": {project: "kernels", event: "push", body: strings.Replace(pushEvent("main"), hookHead, "HEAD", 1), secret: hookSecret, status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			w, f := hookWorld(t)
			got := deliver(w, c.status, c.project, c.event, c.body, signedBy(c.secret, c.body))
			if c.status != 202 {
				if len(f.events) != 0 {
					t.Errorf("events %+v", f.events)
				}
				return
			}
			var out struct{ Gate string }
			got.into(t, &out)
			c.want.Gate = out.Gate
			if e, ok := f.events[c.change]; !ok || e != c.want || !client.GateID(out.Gate) {
				t.Errorf("events %+v, want %s: %+v", f.events, c.change, c.want)
			}
		})
	}
}

// A delivery is accepted once, whatever ID it claims. One that failed may come again.
func TestDelivery_ReplayIsRefused(t *testing.T) {
	w, f := hookWorld(t)
	body := pullEvent("synchronize", 7)
	f.away = true
	deliver(w, 503, "kernels", "pull_request", body, signedBy(hookSecret, body))
	f.away = false
	deliver(w, 202, "kernels", "pull_request", body, signedBy(hookSecret, body))
	first := f.events["pull/7"]
	deliver(w, 409, "kernels", "pull_request", body, signedBy(hookSecret, body))
	if f.events["pull/7"] != first {
		t.Error("a replayed delivery started a gate")
	}
}

func TestDelivery_NoFleet(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no fleet": func(c *Config) { c.Fleet, c.Webhooks = nil, github.Webhooks() },
		"no forge": func(c *Config) { c.Fleet = &fakeFleet{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, change)
			w.project("kernels", false)
			deliver(w, 404, "kernels", "push", "{}", "")
		})
	}
}

func TestGatedChange(t *testing.T) {
	g := fleetstore.Gated{Repository: "octo/kernels", Branches: []string{"main", "release"}}
	repo := forge.Repo{Owner: "Octo", Name: "kernels"}
	for want, d := range map[string]forge.Delivery{
		"pull/7":    {Repo: repo, Pull: 7},
		"push/abc":  {Repo: repo, Branch: "release", Head: "abc"},
		"":          {Repo: repo, Branch: "other", Head: "abc"},
		"push/main": {Repo: repo, Branch: "main", Head: "main"},
	} {
		if got := gatedChange(g, d); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}
