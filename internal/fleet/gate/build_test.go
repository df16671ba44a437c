package gate

import (
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
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
