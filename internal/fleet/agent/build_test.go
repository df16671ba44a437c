package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// build is the build of the lease.
func (w *world) build() job.Lease {
	l := w.lease
	l.Build = true
	return l
}

// forget drops what was delivered so far.
func (e *fakeEngine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = nil
}

func TestBuild_ThenMeasured(t *testing.T) {
	w := newWorld(t)
	d := w.keep(t, w.build(), "token of the build")
	w.agent.finish(t.Context(), d)
	ended := w.engine.endings()
	if len(ended) != 1 || ended[0].err != nil || ended[0].token != "token of the build" || ended[0].result.Exit != 0 || ended[0].result.Record != "" {
		t.Fatalf("the build ended as %+v", ended)
	}
	if run := w.lines("runs"); len(run) != 1 || !strings.HasSuffix(run[0], " --build-only") {
		t.Errorf("pawl was called with %q", run)
	}
	if !exists(d.file("work/code")) || exists(d.own("lease.json")) {
		t.Error("want the workspace for the measurement, and no build under way")
	}
	w.engine.forget()
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
	w.delivered(t, 1)
	if fetched := slices.DeleteFunc(w.requests, func(r string) bool { return !strings.HasPrefix(r, "GET") }); len(fetched) != 1 {
		t.Errorf("the bundle was fetched %d times", len(fetched))
	}
}

func TestBuild_ThatEndsTheGate(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.agent.finish(t.Context(), w.keep(t, w.build(), "token"))
	ended := w.engine.endings()
	if len(ended) != 1 || ended[0].err != nil || ended[0].result.Exit != 1 {
		t.Fatalf("the build ended as %+v", ended)
	}
	if found := w.documents(t, ended[0].result.Record); found["verdict.json"] != "head" {
		t.Errorf("documents %q", found)
	}
	if left := w.leases(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Whichever comes first, a build and a measurement never run at the same time on a host.
func TestBuild_NeverDuringAMeasurement(t *testing.T) {
	for first, hold := range map[string]string{"measurement": "1", "build": "build"} {
		t.Run("a "+first+" first", func(t *testing.T) {
			w := newWorld(t)
			w.hold(t, hold)
			build := w.build()
			build.Device = "cpu:1"
			order := []job.Lease{w.lease, build}
			if first == "build" {
				slices.Reverse(order)
			}
			var waits []chan struct{}
			for i, l := range order {
				d, done := w.keep(t, l, l.Device), make(chan struct{})
				waits = append(waits, done)
				go func() { defer close(done); w.agent.finish(t.Context(), d) }()
				if i == 0 {
					w.held(t)
				}
			}
			for waiting := false; !waiting; time.Sleep(time.Millisecond) {
				w.engine.mu.Lock()
				waiting = len(w.engine.beats) > 0 && w.engine.beats[len(w.engine.beats)-1].Phase == "waiting"
				w.engine.mu.Unlock()
			}
			if runs := w.lines("runs"); len(runs) != 1 {
				t.Errorf("%d ran at the same time", len(runs))
			}
			w.hold(t, "")
			for _, done := range waits {
				<-done
			}
			if ended := w.engine.endings(); len(ended) != 2 || len(w.lines("runs")) != 2 || w.lines("problems") != nil {
				t.Errorf("%d ended, %d ran, problems %v", len(ended), len(w.lines("runs")), w.lines("problems"))
			}
		})
	}
}

// The server offers the measurement as soon as it has the result of the build, before the agent has noted that.
func TestBuild_EndLeavesItsMeasurementAlone(t *testing.T) {
	w := newWorld(t)
	build := w.keep(t, w.build(), "token of the build")
	measurement := w.keep(t, w.lease, "token")
	if err := build.finish(nil); err != nil {
		t.Fatal(err)
	}
	kept := w.agent.kept()
	if build.path != measurement.path || len(kept) != 1 || kept[0].lease.Build || string(kept[0].token) != "token" {
		t.Errorf("kept %+v in %s, want the measurement in %s", kept, build.path, measurement.path)
	}
}

func TestBuild_AfterACrash(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "build")
	ctx, crash := context.WithCancel(t.Context())
	d := w.keep(t, w.build(), "token")
	done := make(chan struct{})
	go func() { defer close(done); w.agent.finish(ctx, d) }()
	w.held(t)
	crash()
	<-done
	w.hold(t, "")
	w.agent = w.newAgent(t, w.agent.id.Server)
	w.agent.finishAll(t.Context())
	if ended := w.engine.endings(); len(ended) != 1 || ended[0].err != nil || ended[0].result.Exit != 0 || ended[0].token != "token" {
		t.Errorf("the build ended as %+v", ended)
	}
}
