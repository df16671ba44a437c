package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/measure"
)

// fakeFleet records what the server asks of it.
type fakeFleet struct {
	mu       sync.Mutex
	started  []gate.Work
	canceled []string
	view     placer.View
	away     bool
	events   map[string]gate.Event // the latest of each change
}

func (f *fakeFleet) Follow(_ context.Context, change string, e gate.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return errors.New("no answer")
	}
	if f.events == nil {
		f.events = map[string]gate.Event{}
	}
	f.events[change] = e
	return nil
}

func (f *fakeFleet) Start(_ context.Context, w gate.Work, _ []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return errors.New("no answer")
	}
	f.started = append(f.started, w)
	return nil
}

func (f *fakeFleet) Cancel(_ context.Context, _, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled = append(f.canceled, id)
	return nil
}

func (f *fakeFleet) Queue(context.Context, string) (placer.View, error) {
	if f.away {
		return placer.View{}, errors.New("no answer")
	}
	return f.view, nil
}

func (f *fakeFleet) Beat(context.Context, string, string, string) (job.Beat, error) {
	return job.Beat{Phase: "rounds", Rounds: 5}, nil
}

func gateWorld(t *testing.T) (*world, *fakeFleet, string, client.GateRequest) {
	t.Helper()
	f := &fakeFleet{}
	w := newWorld(t, func(c *Config) { c.Fleet = f })
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReport, store.ScopeRead)
	bundle := []byte("a git bundle")
	sum := sha256.Sum256(bundle)
	digest := hex.EncodeToString(sum[:])
	w.want(201, asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest, key: key, body: bundle})
	return w, f, key, client.GateRequest{Models: []string{"l4", "h100"}, Bundle: digest, Base: sha(1), Head: sha(2), Suite: "pawl.yaml", Seconds: 600, Change: "pull/7"}
}

func gatePath(n int) string { return "/v1/projects/kernels/gates/" + runName(n) }

func TestGate_StartedShownAndCanceled(t *testing.T) {
	w, f, key, in := gateWorld(t)
	f.view.Queue = []placement.Waiting{{Gate: gate.ID("kernels", runName(1)), Project: "kernels", Position: 3, Start: began, Reason: placement.Busy}}
	var g client.Gate
	for range 2 { // the answer was lost
		w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in}).into(t, &g)
	}
	if len(g.Parts) != 2 || g.Parts[0].Model != "h100" || g.Parts[1].State != "waiting" || g.Parts[1].Position != 3 || g.Parts[1].Start == nil || g.Ended() {
		t.Errorf("gate %+v", g)
	}
	if w := f.started[0]; w.Project != "kernels" || w.Gate != runName(1) || w.Head != sha(2) || w.Seconds != 600 {
		t.Errorf("started %+v", w)
	}
	fleet := fleetstore.New(w.store.DB())
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Note(t.Context(), p.ID, gate.Progress{Gate: runName(1), Model: "l4", State: gate.Measuring, Device: "GPU-1", Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	w.want(200, asked{path: gatePath(1), key: key}).into(t, &g)
	if part := g.Parts[1]; part.Phase != "rounds" || part.Rounds != 5 || part.Device != "GPU-1" {
		t.Errorf("part %+v", part)
	}
	w.want(202, asked{method: "DELETE", path: gatePath(1), key: key})
	if !slices.Equal(f.canceled, []string{runName(1)}) {
		t.Errorf("canceled %v", f.canceled)
	}
	w.want(404, asked{method: "DELETE", path: gatePath(9), key: key})
	w.want(404, asked{path: gatePath(9), key: key})
}

// Temporal knows a gate for some days after its end. Sending it again changes nothing, however late.
func TestGate_StartsOnce(t *testing.T) {
	w, f, key, in := gateWorld(t)
	w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in})
	fleet := fleetstore.New(w.store.DB())
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []gate.Progress{{Model: "h100", State: gate.Failed, Attempt: 1}, {Model: "l4", State: gate.Canceled, Attempt: 1}} {
		w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in}) // its answer was lost
		end.Gate = runName(1)
		if err := fleet.Note(t.Context(), p.ID, end); err != nil {
			t.Fatal(err)
		}
	}
	started := len(f.started)
	if started != 3 {
		t.Errorf("started %d times before its end, want 3", started)
	}
	var g client.Gate
	w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in}).into(t, &g)
	if len(f.started) != started || !g.Ended() {
		t.Errorf("started %d times after its end: %+v", len(f.started)-started, g)
	}
}

func TestGate_NewPushCancelsTheOlder(t *testing.T) {
	w, f, key, in := gateWorld(t)
	w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in})
	w.want(201, asked{method: "PUT", path: gatePath(2), key: key, json: in})
	in.Change = "pull/8"
	w.want(201, asked{method: "PUT", path: gatePath(3), key: key, json: in})
	in.Change = ""
	w.want(201, asked{method: "PUT", path: gatePath(4), key: key, json: in})
	if !slices.Equal(f.canceled, []string{runName(1)}) {
		t.Errorf("canceled %v, want the first", f.canceled)
	}
}

func TestGate_Refused(t *testing.T) {
	w, f, key, in := gateWorld(t)
	other := w.project("others", false)
	for name, c := range map[string]struct {
		status int
		change func(*client.GateRequest)
	}{
		"no models":              {400, func(r *client.GateRequest) { r.Models = nil }},
		"a model twice":          {400, func(r *client.GateRequest) { r.Models = []string{"l4", "l4"} }},
		"a model with a slash":   {400, func(r *client.GateRequest) { r.Models = []string{"../l4"} }},
		"unknown bundle":         {400, func(r *client.GateRequest) { r.Bundle = hex.EncodeToString(bytes.Repeat([]byte{1}, 32)) }},
		"short commit":           {400, func(r *client.GateRequest) { r.Head = "abc" }},
		"suite outside":          {400, func(r *client.GateRequest) { r.Suite = "../pawl.yaml" }},
		"no time":                {400, func(r *client.GateRequest) { r.Seconds = 0 }},
		"more time than allowed": {400, func(r *client.GateRequest) { r.Seconds = 1 << 30 }},
		"priority":               {400, func(r *client.GateRequest) { r.Priority = 6 }},
		"an urgent priority":     {400, func(r *client.GateRequest) { r.Priority = 2 }},
		"trust":                  {400, func(r *client.GateRequest) { r.Trust = "blind" }},
	} {
		r := in
		c.change(&r)
		if got := w.do(asked{method: "PUT", path: gatePath(1), key: key, json: r}); got.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.StatusCode, got.body, c.status)
		}
	}
	w.want(404, asked{method: "PUT", path: "/v1/projects/kernels/gates/1", key: key, json: in})
	w.want(404, asked{method: "PUT", path: gatePath(1), key: w.key(other, store.ScopeReport), json: in})
	w.want(401, asked{method: "PUT", path: gatePath(1), json: in})
	if len(f.started) != 0 {
		t.Errorf("started %+v", f.started)
	}
	f.away = true
	if got := w.want(503, asked{method: "PUT", path: gatePath(1), key: key, json: in}); got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	f.away, f.view.Queue = false, make([]placement.Waiting, placement.MaxWaiting)
	in.Models = []string{"b200"} // the answers for the others are known
	if got := w.want(503, asked{method: "PUT", path: gatePath(1), key: key, json: in}); got.Header.Get("Retry-After") == "" || len(f.started) != 0 {
		t.Error("a full queue: no Retry-After, or a gate has started")
	}
	without := newWorld(t, func(c *Config) { c.Fleet = nil })
	p := without.project("kernels", true)
	without.want(404, asked{path: "/v1/projects/kernels/fleet", key: without.key(p, store.ScopeRead)})
}

func TestGate_TierComesFromTheProject(t *testing.T) {
	w, f, key, in := gateWorld(t)
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	fleet := fleetstore.New(w.store.DB())
	for i, c := range []struct {
		project tier.Tier
		wish    measure.Trust
		status  int
		tier    tier.Tier
		trust   string
	}{
		{tier.Own, "", 201, tier.Own, ""},
		{tier.Own, measure.Checked, 201, tier.Checked, "checked"},
		{tier.Checked, "", 201, tier.Checked, "checked"},
		{tier.Checked, measure.Trusted, 403, "", ""},
		{tier.Unknown, measure.SelfTimed, 403, "", ""},
		{tier.Unknown, measure.Checked, 201, tier.Unknown, "checked"},
	} {
		if err := fleet.SetTier(t.Context(), p.ID, c.project); err != nil {
			t.Fatal(err)
		}
		in.Trust, in.Change, f.started = c.wish, "", nil
		w.want(c.status, asked{method: "PUT", path: gatePath(20 + i), key: key, json: in})
		if c.status != 201 {
			if len(f.started) != 0 {
				t.Errorf("%+v has started", c)
			}
			continue
		}
		if got := f.started[0]; got.Tier != c.tier || got.Trust != c.trust {
			t.Errorf("project of tier %s, wish %q: tier %s, level %q", c.project, c.wish, got.Tier, got.Trust)
		}
	}
}

func TestFleet_ShowsOnlyOwnGates(t *testing.T) {
	w, f, key, _ := gateWorld(t)
	fleet := fleetstore.New(w.store.DB())
	for _, id := range []string{"GPU-1", "GPU-2"} {
		if err := fleet.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: id, Host: id, Power: placement.Ready}, Model: "l4"}); err != nil {
			t.Fatal(err)
		}
	}
	f.view = placer.View{
		Leases: []placement.Lease{{Device: "GPU-2"}},
		Queue: []placement.Waiting{
			{Gate: gate.ID("others", runName(5)), Project: "others", Position: 1, Reason: placement.Busy},
			{Gate: gate.ID("kernels", runName(6)), Project: "kernels", Position: 2, Start: time.Now(), Reason: placement.Busy},
		},
	}
	var out client.Fleet
	w.want(200, asked{path: "/v1/projects/kernels/fleet", key: key}).into(t, &out)
	if len(out.Devices) != 2 || out.Devices[0].Busy || !out.Devices[1].Busy {
		t.Errorf("devices %+v", out.Devices)
	}
	if len(out.Queue) != 1 || out.Queue[0].Gate != runName(6) || out.Queue[0].Position != 2 {
		t.Errorf("queue %+v", out.Queue)
	}
}

func TestFleetPage_HostsAndSpendAreForPeopleWhoWorkHere(t *testing.T) {
	w, f, key, in := gateWorld(t)
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	p.Public = true
	if err := w.store.UpdateProject(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	writer, _ := w.person("writer", map[int64]store.Role{p.ID: store.Writer})
	viewer, _ := w.person("viewer", map[int64]store.Role{p.ID: store.Viewer})
	shown := func(cookie string) string {
		return string(w.want(200, asked{path: "/p/kernels/fleet", cookie: cookie}).body)
	}
	if page := shown(writer); !strings.Contains(page, "pawld agent enroll") {
		t.Errorf("an empty fleet does not say what to do:\n%s", page)
	}
	fleet := fleetstore.New(w.store.DB())
	for id, model := range map[string]string{"GPU-1": "l4", "GPU-<b>2": "h100"} {
		if err := fleet.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: id, Host: "secret-host", Power: placement.Ready, Price: 7.25}, Model: model}); err != nil {
			t.Fatal(err)
		}
	}
	if err := fleet.SetBudget(t.Context(), p.ID, placement.Cost{Seconds: 3.75 * 3600}); err != nil {
		t.Fatal(err)
	}
	f.view = placer.View{
		Leases: []placement.Lease{{Device: "GPU-1", Request: placement.Request{Gate: gate.ID("others", runName(5)), Project: "others"}}},
		Queue: []placement.Waiting{
			{Gate: gate.ID("others", runName(5)), Project: "others", Position: 1, Reason: placement.Busy},
			{Gate: gate.ID("kernels", runName(1)), Project: "kernels", Position: 2, Reason: placement.NoHost, Tier: tier.Checked},
		},
	}
	in.Change = "pull/7 <script>"
	w.want(201, asked{method: "PUT", path: gatePath(1), key: key, json: in})
	for name, cookie := range map[string]string{"writer": writer, "viewer": viewer, "anonymous": ""} {
		page := shown(cookie)
		for text, want := range map[string]bool{
			"secret-host": name == "writer", "7.25": name == "writer", "3.75": name == "writer", "Spend today": name == "writer",
			placement.NoHost: true, runName(1): true, "forks and agents": true, "GPU-&lt;b&gt;2": true, "in use": true, "pull/7 &lt;script&gt;": true,
			runName(5): false, "GPU-<b>2": false,
		} {
			if strings.Contains(page, text) != want {
				t.Errorf("%s: the page has %q: %v, want %v", name, text, !want, want)
			}
		}
	}
	err = fleet.Note(t.Context(), p.ID, gate.Progress{Gate: runName(1), Model: "l4", State: gate.Measuring, Device: "GPU-1", Attempt: 1})
	if page := shown(writer); err != nil || !strings.Contains(page, "measures on GPU-1 (rounds, 5 rounds)") {
		t.Errorf("the page does not tell how far a gate is: %v", err)
	}
	if page := string(w.want(200, asked{path: "/p/kernels", cookie: writer}).body); !strings.Contains(page, `href="/p/kernels/fleet"`) {
		t.Error("no link in the sidebar")
	}
	without := newWorld(t, func(c *Config) { c.Fleet = nil })
	without.project("kernels", true)
	if page := string(without.want(200, asked{path: "/p/kernels"}).body); strings.Contains(page, "/fleet") {
		t.Error("a link to a fleet that is not there")
	}
	without.want(404, asked{path: "/p/kernels/fleet"})
}

func TestFleetPage_WithoutAnAnswerOfTheQueues(t *testing.T) {
	w, f, _, _ := gateWorld(t)
	f.away = true
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	member, _ := w.person("member", map[int64]store.Role{p.ID: store.Viewer})
	err = fleetstore.New(w.store.DB()).SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: "GPU-1", Power: placement.Ready}, Model: "l4"})
	if err != nil {
		t.Fatal(err)
	}
	if page := string(w.want(200, asked{path: "/p/kernels/fleet", cookie: member}).body); !strings.Contains(page, "GPU-1") || !strings.Contains(page, "do not answer now") {
		t.Errorf("%s", page)
	}
}

func TestTestbedPage_CalibrationsOfItsCards(t *testing.T) {
	w, _, _, _ := gateWorld(t)
	p, err := w.store.Project(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	viewer, _ := w.person("viewer", map[int64]store.Role{p.ID: store.Viewer})
	w.sent("kernels", w.key(p, store.ScopeReportMain), example(1, 1)) // of an NVIDIA L4 with driver 550.54
	shown := func() string {
		return string(w.want(200, asked{path: "/p/kernels/testbeds/1", cookie: viewer}).body)
	}
	if page := shown(); strings.Contains(page, "Cards of the fleet") {
		t.Error("the page shows cards of an empty fleet")
	}
	fleet := fleetstore.New(w.store.DB())
	for i, c := range []struct{ id, model, driver string }{{"GPU-same", "l4", "550.54"}, {"GPU-driver", "l4", "570.86"}, {"GPU-model", "h100", "550.54"}, {"GPU-new", "l4", ""}} {
		err := fleet.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: c.id, Host: "secret-host", Power: placement.Ready}, Model: c.model})
		if err == nil && c.driver != "" {
			_, _, err = fleet.Calibrated(t.Context(), c.id, calibration.Record{At: began, Driver: c.driver, Seed: uint64(i + 1), Rounds: 16, Noise: 0.0042, Smallest: 0.011, Planted: 0.03, Found: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	page := shown()
	for text, want := range map[string]bool{
		"Cards of the fleet": true, "GPU-same": true, "0.42 %": true, "1.1 %": true, "0 of 1": true, "GPU-driver": false, "GPU-model": false, "GPU-new": false, "secret-host": false,
	} {
		if strings.Contains(page, text) != want {
			t.Errorf("the page has %q: %v, want %v", text, !want, want)
		}
	}
}
