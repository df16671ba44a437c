package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/measure"
)

var errAway = errors.New("connection refused")

func gone(int) error { return serviceerror.NewNotFound("activity already timed out") }

// delivered checks that one result with all rounds arrived, and returns it.
func (w *world) delivered(t *testing.T, attempt int) job.Result {
	t.Helper()
	ended := w.engine.endings()
	if len(ended) != 1 || ended[0].err != nil {
		t.Fatalf("ended as %+v, want one result", ended)
	}
	r := ended[0].result
	if r.Exit != 1 || r.Lease != w.lease.ID || r.Attempt != attempt || r.Error != "" {
		t.Errorf("result %+v", r)
	}
	found := w.documents(t, r.Record)
	if n := strings.Count(found["current.json"], `"record":"round"`); n != 4 {
		t.Errorf("%d rounds were delivered, want 4: %q", n, found["current.json"])
	}
	if found["verdict.json"] != "head" {
		t.Errorf("pawl ran in a workspace with %q, want the head", found["verdict.json"])
	}
	if left := w.leases(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if problems := w.lines("problems"); problems != nil {
		t.Error(problems)
	}
	return r
}

func TestFinish_MeasuresAndDelivers(t *testing.T) {
	w := newWorld(t)
	w.lease.Trust = "checked"
	t.Setenv("PAWL_TOKEN", "secret of the host")
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
	w.delivered(t, 1)
	if run := w.lines("runs"); len(run) != 1 || !strings.HasPrefix(run[0], "run --resume --no-keep --base="+w.lease.Base+" --suite=pawl.yaml --out=") || !strings.HasSuffix(run[0], " --trust=checked") {
		t.Errorf("pawl was called with %q", run)
	}
	if env := strings.Join(w.lines("env"), "\n"); strings.Contains(env, "secret of the host") || !strings.Contains(env, "GIT_CONFIG_GLOBAL=/dev/null") {
		t.Errorf("pawl had the environment\n%s", env)
	}
	if w.engine.endings()[0].token != "token" {
		t.Error("another token was completed")
	}
}

func TestFinish_ServerAway(t *testing.T) {
	w := newWorld(t)
	w.engine.set(func(int) error { return errAway }, func(n int) error {
		if n < 5 {
			return errAway
		}
		return nil
	})
	tries := map[string]int{}
	w.answer = func(r *http.Request) int {
		if tries[r.Method]++; tries[r.Method] < 4 {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
	w.delivered(t, 1)
	if len(w.lines("runs")) != 1 {
		t.Errorf("pawl ran %d times", len(w.lines("runs")))
	}
}

func TestFinish_Canceled(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "2")
	d := w.keep(t, w.lease, "token")
	done := make(chan struct{})
	go func() { defer close(done); w.agent.finish(t.Context(), d) }()
	w.held(t)
	w.engine.set(func(int) error { return temporal.NewCanceledError() }, nil)
	<-done
	ended := w.engine.endings()
	if len(ended) != 1 || !temporal.IsCanceledError(ended[0].err) {
		t.Errorf("ended as %+v, want canceled", ended)
	}
	if exists(filepath.Join(w.dir, "running")) {
		t.Error("pawl could not clean up")
	}
	if left := w.leases(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestFinish_LostThenTheNextAttemptContinues(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "2")
	d := w.keep(t, w.lease, "token-1")
	done := make(chan struct{})
	go func() { defer close(done); w.agent.finish(t.Context(), d) }()
	w.held(t)
	w.engine.set(gone, nil)
	<-done
	if ended := w.engine.endings(); len(ended) != 0 {
		t.Fatalf("a lost lease ended as %+v", ended)
	}
	if exists(d.file("lease.json")) || !exists(d.file("out/current.journal")) {
		t.Fatal("want the journal without the lease")
	}
	w.engine.set(nil, nil)
	w.hold(t, "")
	w.lease.Attempt = 2
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token-2"))
	w.delivered(t, 2)
	if w.engine.endings()[0].token != "token-2" {
		t.Error("the old token was completed")
	}
	if fetched := slices.DeleteFunc(w.requests, func(r string) bool { return !strings.HasPrefix(r, "GET") }); len(fetched) != 1 {
		t.Errorf("the bundle was fetched %d times", len(fetched))
	}
}

func TestFinish_ResultTooLateCountsForTheNextAttempt(t *testing.T) {
	w := newWorld(t)
	w.engine.set(nil, gone)
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token-1"))
	w.engine.set(nil, nil)
	w.lease.Attempt = 2
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token-2"))
	w.delivered(t, 2)
	if len(w.lines("runs")) != 1 {
		t.Errorf("pawl ran %d times", len(w.lines("runs")))
	}
}

// A process that ends at any point leaves what the next one needs.
func TestFinish_AfterACrash(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "3")
	ctx, crash := context.WithCancel(t.Context())
	d := w.keep(t, w.lease, "token")
	done := make(chan struct{})
	go func() { defer close(done); w.agent.finish(ctx, d) }()
	w.held(t)
	crash()
	<-done
	if len(w.engine.endings()) != 0 || !exists(d.file("lease.json")) {
		t.Fatal("want the lease to stay")
	}
	w.hold(t, "")
	w.agent = w.newAgent(t, w.agent.id.Server)
	w.agent.finishAll(t.Context())
	w.delivered(t, 1)
	if runs := w.lines("runs"); len(runs) != 2 {
		t.Errorf("pawl ran %d times, want 2", len(runs))
	}
}

// pawl had judged everything when the agent was killed. Its rounds are not measured again.
func TestFinish_AfterACrashOfTheAgentAtTheEndOfPawl(t *testing.T) {
	record := &measure.Run{Rounds: []measure.Round{{}, {Index: 1}}}
	record.ID = "one"
	const none = "{}"
	for name, c := range map[string]struct {
		verdict string
		journal bool
		record  string // other than that of the run
		build   bool
		runs    int
		exit    int
	}{
		"a regression":            {verdict: `{"run": "one", "verdict": "regression"}`, exit: 1},
		"no answer":               {verdict: `{"run": "one", "verdict": "inconclusive"}`, exit: 2},
		"an improvement":          {verdict: `{"run": "one", "verdict": "improvement"}`, exit: 0},
		"the journal still there": {verdict: `{"run": "one", "verdict": "regression"}`, journal: true, runs: 1, exit: 1},
		"no verdict":              {verdict: `{"run": "one"}`, runs: 1, exit: 1},
		"another run's verdict":   {verdict: `{"run": "two", "verdict": "improvement"}`, runs: 1, exit: 1},
		"a damaged record":        {verdict: `{"run": "one", "verdict": "improvement"}`, record: none, runs: 1, exit: 1},
		"a build":                 {verdict: `{"run": "one", "verdict": "improvement"}`, build: true, runs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.lease.Build = c.build
			d := w.keep(t, w.lease, "token")
			err := errors.Join(os.Mkdir(d.file("out"), 0o700), measure.Save(d.file("out/current.json"), record), os.WriteFile(d.file("out/verdict.json"), []byte(c.verdict), 0o600))
			if c.record != "" {
				err = errors.Join(err, os.WriteFile(d.file("out/current.json"), []byte(c.record), 0o600))
			}
			if c.journal {
				err = errors.Join(err, os.WriteFile(d.file("out/current.journal"), []byte(`{"record":"open"}`+"\n"), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			w.agent.finishAll(t.Context())
			all := w.engine.endings()
			if len(all) != 1 || all[0].err != nil || all[0].result.Exit != c.exit || c.runs == 0 && all[0].result.Rounds != 2 {
				t.Errorf("endings %+v", all)
			}
			if runs := w.lines("runs"); len(runs) != c.runs {
				t.Errorf("pawl ran %d times, want %d", len(runs), c.runs)
			}
		})
	}
}

func TestFinish_OneAtATime(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "1")
	var waits []chan struct{}
	for _, device := range []string{"cpu:0", "cpu:1", "cpu:2"} {
		l := w.lease
		l.Device = device
		d, done := w.keep(t, l, device), make(chan struct{})
		waits = append(waits, done)
		go func() { defer close(done); w.agent.finish(t.Context(), d) }()
	}
	w.held(t)
	for phases := map[string]bool{}; !phases["waiting"] || !phases["measuring"]; {
		w.engine.mu.Lock()
		for _, b := range w.engine.beats {
			phases[b.Phase] = true
		}
		w.engine.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	w.hold(t, "")
	for _, done := range waits {
		<-done
	}
	if ended := w.engine.endings(); len(ended) != 3 || len(w.lines("runs")) != 3 || w.lines("problems") != nil {
		t.Errorf("%d ended, %d ran, problems %v", len(ended), len(w.lines("runs")), w.lines("problems"))
	}
}

// What runs on the host does not end, so that the lease never gets its turn: another device may.
func TestFinish_HostIsStuck(t *testing.T) {
	w := newWorld(t)
	w.agent.turn <- struct{}{}
	w.agent.pace.turn = time.Millisecond
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
	if ended := w.engine.endings(); len(ended) != 1 || ended[0].err == nil || !strings.Contains(ended[0].err.Error(), "does not end") {
		t.Errorf("ended as %+v, want an error", ended)
	}
	if runs := w.lines("runs"); runs != nil {
		t.Errorf("pawl was called with %q", runs)
	}
}

func TestFinish_BeatsSayTheRounds(t *testing.T) {
	w := newWorld(t)
	w.hold(t, "3")
	d, done := w.keep(t, w.lease, "token"), make(chan struct{})
	go func() { defer close(done); w.agent.finish(t.Context(), d) }()
	for rounds := 0; rounds != 3; {
		w.engine.mu.Lock()
		if n := len(w.engine.beats); n > 0 {
			rounds = w.engine.beats[n-1].Rounds
		}
		w.engine.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	w.hold(t, "")
	<-done
	w.delivered(t, 1)
}

// What pawl cannot do is a result: the server decides what follows.
func TestFinish_Problems(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, w *world)
		want   string
	}{
		"a bundle that is none": {func(_ *testing.T, w *world) {
			w.files[job.BundlePath+digestOf([]byte("junk"))], w.lease.Bundle = []byte("junk"), digestOf([]byte("junk"))
		}, "git bundle"},
		"a commit that is not in the bundle": {func(_ *testing.T, w *world) { w.lease.Base = strings.Repeat("a", 40) }, "git cat-file"},
		"a bundle that is refused": {func(_ *testing.T, w *world) {
			w.answer = func(*http.Request) int { return http.StatusForbidden }
		}, "403"},
		"no time": {func(t *testing.T, w *world) { t.Helper(); w.hold(t, "1"); w.lease.Seconds = 1 }, "longer than 1 s"},
		"a program that fails": {func(t *testing.T, w *world) {
			t.Helper()
			if err := os.WriteFile(w.agent.pawl, []byte("#!/bin/sh\necho no device\nexit 3\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "no device"},
		"a program that dies": {func(t *testing.T, w *world) {
			t.Helper()
			if err := os.WriteFile(w.agent.pawl, []byte("#!/bin/sh\nkill -9 $$\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.change(t, w)
			w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
			ended := w.engine.endings()
			if len(ended) != 1 || ended[0].err != nil || ended[0].result.Exit != job.ExitCannot || !strings.Contains(ended[0].result.Error, test.want) {
				t.Errorf("ended as %+v, want %q", ended, test.want)
			}
			if left := w.leases(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// What the run left is the same on every host, so it does not go to another one.
func TestFinish_DocumentsThatCannotBePacked(t *testing.T) {
	w := newWorld(t)
	d := w.keep(t, w.lease, "token")
	if err := errors.Join(os.MkdirAll(d.file("out"), 0o700), os.Symlink(w.agent.identityFile(), d.file("out/report.html"))); err != nil {
		t.Fatal(err)
	}
	w.agent.finish(t.Context(), d)
	ended := w.engine.endings()
	if len(ended) != 1 || ended[0].err != nil || ended[0].result.Exit != 1 || ended[0].result.Record != "" || !strings.Contains(ended[0].result.Error, "links") {
		t.Errorf("ended as %+v", ended)
	}
}

func TestFinish_DocumentsRefused(t *testing.T) {
	w := newWorld(t)
	w.answer = func(r *http.Request) int {
		if r.Method == http.MethodPut {
			return http.StatusRequestEntityTooLarge
		}
		return 0
	}
	w.agent.finish(t.Context(), w.keep(t, w.lease, "token"))
	if ended := w.engine.endings(); len(ended) != 1 || ended[0].result.Record != "" || !strings.Contains(ended[0].result.Error, "413") {
		t.Errorf("ended as %+v", ended)
	}
}
