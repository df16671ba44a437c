package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// An agent and a desk of the version before this one work with this server, and those of this version with a server of that
// one. A gate that was started there ends here, with the rounds that it had.
func (w *world) testPrevious(t *testing.T) {
	old := testrun.Previous(t)
	dir := filepath.Join(w.dir, "previous")
	code := w.enroll(t, dir, "previous")
	agent := w.startAs("previous agent", nil, filepath.Join(old, "pawl-agent"), "serve", "--server", w.gateway, "--state", filepath.Join(dir, "agent"),
		"--code", code, "--device", "cpu:previous", "--model", "previous")
	defer func() { _ = agent.Process.Kill() }()
	await.TrueWithin(t, patience, "the device of the old agent to be in the fleet", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "devices"), "cpu:previous on")
	})
	gate := func(pawl, model string) {
		t.Helper()
		r := newRepository(t)
		r.commit(t, "120")
		stdout, stderr, err := w.run(t, r.dir, pawl, "run", "--base", "HEAD~1", "--on", model)
		if exitCode(t, err) != 1 || verdictOf(t, filepath.Join(r.dir, "results")) != "regression" {
			t.Fatalf("%s on %s: %v\n%s%s", pawl, model, err, stdout, stderr)
		}
	}
	gate("pawl", "previous")
	gate(filepath.Join(old, "pawl"), "previous")

	w.stop(t, "pawld")
	// The old server knows no hosts file.
	w.started["previous pawld"] = w.startAs("previous pawld", w.serve[1:], filepath.Join(old, "pawld"), "serve")
	gate("pawl", "cpu")
	gate(filepath.Join(old, "pawl"), "cpu")
	h := w.holdGate(t)
	w.stop(t, "previous pawld")
	w.again("pawld")
	h.release(t)
}

// stop asks a process to end, and waits for that.
func (w *world) stop(t *testing.T, name string) {
	t.Helper()
	must(t, w.started[name].Process.Signal(syscall.SIGTERM))
	if err := w.started[name].Wait(); err != nil {
		t.Errorf("%s was asked to stop: %v", name, err)
	}
}

// heldGate is a gate that waits in the middle of its measurement, and the rounds that it has.
type heldGate struct {
	repository
	*gate
	kept *measure.Run
}

// holdGate starts a gate on the first host, and returns when it waits after three rounds of both sides.
func (w *world) holdGate(t *testing.T) heldGate {
	t.Helper()
	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, 6, "cpu")
	found, err := filepath.Glob(filepath.Join(w.state(), "leases", "*", "out", measure.JournalPath("current.json")))
	if err != nil || len(found) != 1 {
		t.Fatalf("journals %v, %v, want one", found, err)
	}
	kept, err := measure.Load(found[0])
	must(t, err)
	return heldGate{r, g, kept}
}

// release lets the gate go on to its end, which has the rounds from before.
func (h heldGate) release(t *testing.T) {
	t.Helper()
	must(t, os.Remove(h.hold))
	if code := exitCode(t, h.wait()); code != 1 {
		t.Fatalf("exit code %d, want 1\n%s", code, h.said())
	}
	whole, err := measure.Load(filepath.Join(h.dir, "results", "current.json"))
	must(t, err)
	if lost := lostRounds(t, h.kept, whole); lost > 0 || len(h.kept.Rounds) != 3 || len(whole.Rounds) != 6 || h.made() != 12 {
		t.Errorf("%d of %d rounds lost, %d in all, %d calls", lost, len(h.kept.Rounds), len(whole.Rounds), h.made())
	}
}
