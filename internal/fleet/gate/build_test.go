package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

func TestBuild_Paths(t *testing.T) {
	for _, c := range []struct {
		name     string
		builds   []answer
		answers  []answer
		devices  []string
		builders []string // devices whose hosts took a build
		attempts []string // measurements
		state    State
	}{
		{name: "an agent of an earlier version: the measurement builds", attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{name: "built, then measured on the same host", builds: []answer{{after: time.Minute}}, builders: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{name: "a build that ends the gate: nothing is measured", builds: []answer{{after: time.Minute, ends: true}}, builders: []string{"a"}, state: Done},
		{
			name: "the agent cannot build: it measures", builds: []answer{{err: temporal.NewApplicationError("no space on the disk", "Agent")}},
			builders: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done,
		},
		{
			name: "agent lost during a build and back: same card, without another build", devices: []string{"a", "b"},
			builds:   []answer{{after: time.Minute, err: errLost}, {ends: true}},
			builders: []string{"a"}, attempts: []string{"p-G-l4-1 2 on a"}, state: Done,
		},
		{
			name: "agent lost during a build for good: another card builds anew", devices: []string{"a", "b"},
			builds: []answer{{after: time.Minute, err: errLost}, {}}, answers: []answer{{after: 20 * time.Second, err: errNotServed}},
			builders: []string{"a", "b"}, attempts: []string{"p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, state: Done,
		},
		{name: "a build that takes too long: no other card", devices: []string{"a", "b"}, builds: []answer{{after: 30 * time.Minute, err: errTooLong}}, builders: []string{"a"}, state: Failed},
		{
			name: "agent lost during the measurement: no second build", devices: []string{"a", "b"},
			builds: []answer{{}, {ends: true}}, answers: []answer{{after: time.Minute, err: errLost}},
			builders: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a"}, state: Done,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.devices == nil {
				c.devices = []string{"a"}
			}
			w := newWorld(t, c.devices, c.answers...)
			w.builds = c.builds
			out, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			var builders []string
			for _, l := range w.built {
				builders = append(builders, l.Device)
				if !l.Build {
					t.Errorf("the lease of a build: %+v", l)
				}
			}
			if got := w.attempts(); !slices.Equal(got, c.attempts) || !slices.Equal(builders, c.builders) {
				t.Errorf("built on %q and measured %q, want %q and %q", builders, got, c.builders, c.attempts)
			}
			if out.State != c.state {
				t.Errorf("outcome %+v, want %s", out, c.state)
			}
			if n := len(w.state.Leases) + len(w.state.Requests); n != 0 {
				t.Errorf("%d leases and requests are left", n)
			}
			if c.state == Done && (len(w.made) != 1 || w.made[0].Result != out.Result) {
				t.Errorf("published %+v, outcome %+v", w.made, out)
			}
		})
	}
}

// A host that only builds is asked once, before the first card. The host of the card builds if it gets nothing from there.
func TestBuild_Elsewhere(t *testing.T) {
	host := job.Host{Tools: strings.Repeat("a", 64), Arch: "sm_89"}
	for _, c := range []struct {
		name     string
		host     job.Host
		builds   []answer
		answers  []answer
		builders []string // devices whose hosts took a build; empty for a host without one
		attempts []string
		handed   string // what measurements get
		state    State
	}{
		{name: "no such host", builds: []answer{{}}, builders: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{name: "built elsewhere: the card's host does not build", host: host, builds: []answer{{after: time.Minute}}, builders: []string{""}, attempts: []string{"p-G-l4-1 1 on a"}, handed: builtElsewhere, state: Done},
		{name: "busy: the card's host builds", host: host, builds: []answer{{after: time.Minute, err: errNotServed}, {}}, builders: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{name: "lost: the card's host builds", host: host, builds: []answer{{err: errLost}, {}}, builders: []string{"", "a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{name: "too slow: the card's host builds", host: host, builds: []answer{{err: errTooLong}, {}}, builders: []string{"", "a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{
			name: "it says that a side does not build: only the card's host is believed", host: host, builds: []answer{{ends: true}, {ends: true}},
			builders: []string{"", "a"}, state: Done,
		},
		{
			name: "the card is lost for good: the next one gets the builds", host: host, builds: []answer{{}},
			answers:  []answer{{err: errLost}, {err: errNotServed}},
			builders: []string{""}, attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, handed: builtElsewhere, state: Done,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, []string{"a", "b"}, c.answers...)
			w.builds, w.host = c.builds, c.host
			out, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			var builders []string
			for _, l := range w.built {
				builders = append(builders, l.Device)
				if l.Elsewhere() && (l.Host != host || l.ID != "p-G-l4-1" || l.Queue() != "builder:own/"+host.Tools) {
					t.Errorf("the lease of a build elsewhere: %+v", l)
				}
			}
			if got := w.attempts(); !slices.Equal(got, c.attempts) || !slices.Equal(builders, c.builders) {
				t.Errorf("built on %q and measured %q, want %q and %q", builders, got, c.builders, c.attempts)
			}
			for _, l := range w.leases {
				if l.Builds != c.handed || l.Builds != "" && l.Host != host {
					t.Errorf("measured with %+v", l)
				}
			}
			if out.State != c.state || w.asked != 1 || len(w.made) != 1 {
				t.Errorf("outcome %+v, asked %d times, published %+v", out, w.asked, w.made)
			}
		})
	}
}

func TestBuild_ElsewhereCanceled(t *testing.T) {
	w := newWorld(t, []string{"a"})
	w.builds, w.host = []answer{{after: 20 * time.Minute, err: temporal.NewCanceledError()}}, job.Host{Tools: strings.Repeat("a", 64)}
	w.env.RegisterDelayedCallback(w.env.CancelWorkflow, time.Minute)
	if _, err := w.run(); err == nil {
		t.Fatal("a canceled gate ended without an error")
	}
	w.check(Outcome{State: Canceled})
	if len(w.leases) != 0 || len(w.released) != 0 || len(w.state.Requests) != 0 {
		t.Errorf("measured %+v, released %+v, waiting %+v", w.leases, w.released, w.state.Requests)
	}
}

func TestBuild_AndMeasurementStayWithinTheReservedTime(t *testing.T) {
	w := newWorld(t, []string{"a"})
	w.builds = []answer{{after: 20 * time.Minute}}
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if len(w.leases) != 1 || w.built[0].Seconds != 1800 || w.leases[0].Seconds > 600 || w.leases[0].Build {
		t.Errorf("built %+v, measured %+v", w.built, w.leases)
	}
	if r := w.released[0]; r.Seconds < 21*60 {
		t.Errorf("released %+v: want the time of the build counted", r)
	}
}

func TestBuild_Canceled(t *testing.T) {
	for _, c := range []struct {
		name  string
		build answer
	}{
		{"the agent stops", answer{after: 20 * time.Minute, err: temporal.NewCanceledError()}},
		{"the build ends first", answer{after: 20 * time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, []string{"a"})
			w.builds = []answer{c.build}
			w.env.RegisterDelayedCallback(w.env.CancelWorkflow, time.Minute)
			if _, err := w.run(); err == nil {
				t.Fatal("a canceled gate ended without an error")
			}
			w.check(Outcome{State: Canceled})
			if len(w.leases) != 0 || len(w.released) != 1 {
				t.Errorf("measured %+v, released %+v", w.leases, w.released)
			}
		})
	}
}
