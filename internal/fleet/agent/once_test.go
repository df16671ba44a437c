package agent

import (
	"errors"
	"os/exec"
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

func TestOnce_OneLeaseAndNoOther(t *testing.T) {
	t.Setenv("PAWL_TEST_ONCE", "mine 1h")
	f := newFleet(t)
	cmd := f.start(t)
	defer func() { _ = cmd.Process.Kill() }()
	l := f.lease
	f.up.offer(t, l, "first")
	await.Receive(t, "the refusal of another lease", f.up.more)
	l.ID, l.Build = "mine", true
	f.up.offer(t, l, "build")
	await.Receive(t, "the refusal of a build", f.up.more)
	l.Build = false
	f.up.offer(t, l, "second")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	f.up.mu.Lock()
	defer f.up.mu.Unlock()
	if !slices.Equal(f.up.failed, []string{"OtherLease", "OnlyMeasures"}) || len(f.up.ended["second"]) != 1 || f.up.ended["second"][0].Exit != 1 || len(f.lines("runs")) != 1 {
		t.Errorf("failed %q, ended %+v", f.up.failed, f.up.ended)
	}
}

func TestTake_RefusesAnotherTier(t *testing.T) {
	t.Setenv("PAWL_TEST_ONCE", "mine 1h")
	f := newFleet(t)
	cmd := f.start(t)
	defer func() { _ = cmd.Process.Kill() }()
	l := f.lease
	l.ID, l.Tier, l.Trust = "mine", tier.Checked, "checked" // its host serves own code
	f.up.offer(t, l, "first")
	await.Receive(t, "the refusal of a lease of another tier", f.up.more)
	l.Tier, l.Trust = "", ""
	f.up.offer(t, l, "second")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	f.up.mu.Lock()
	defer f.up.mu.Unlock()
	if !slices.Equal(f.up.failed, []string{"WrongTier"}) || len(f.up.ended["second"]) != 1 {
		t.Errorf("failed %q, ended %+v", f.up.failed, f.up.ended)
	}
}

func TestOnce_LeaseDoesNotCome(t *testing.T) {
	t.Setenv("PAWL_TEST_ONCE", "mine 200ms")
	f := newFleet(t)
	cmd := f.start(t)
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("the agent ended with %v, want exit code 3", err)
	}
}

// A lease that a killed process left counts.
func TestOnce_AfterAKill(t *testing.T) {
	t.Setenv("PAWL_TEST_ONCE", "mine 1h")
	f := newFleet(t)
	f.hold(t, "2")
	cmd := f.start(t)
	l := f.lease
	l.ID = "mine"
	f.up.offer(t, l, "token")
	f.held(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.True(t, "the lock of the killed pawl to be gone", func() bool {
		return exec.Command("rmdir", f.dir+"/running").Run() == nil || !exists(f.dir+"/running")
	})
	f.hold(t, "")
	if err := f.start(t).Wait(); err != nil {
		t.Errorf("the next process ended with %v", err)
	}
	f.up.mu.Lock()
	defer f.up.mu.Unlock()
	if r := f.up.ended["token"]; len(r) != 1 || r[0].Exit != 1 {
		t.Errorf("ended %+v", f.up.ended)
	}
}
