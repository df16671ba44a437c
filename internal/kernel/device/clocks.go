package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/goatnote-inc/pawl/gpu"
)

// SetClocks locks the clocks of the device according to the policy, and enables
// persistence mode if requested, until Release. If that is not permitted or not
// supported, it returns a notice with the fix, not an error. Measuring then continues
// with free clocks, as Clocks reports. The policy free changes nothing on a device
// that this lease has not changed.
func (l *Lease) SetClocks(ctx context.Context, policy gpu.ClockPolicy, persistence bool) ([]Notice, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.dev.Identity().Name
	if l.lock == nil {
		return nil, fmt.Errorf("cannot set the clocks of %s: %w", name, errReleased)
	}
	free := policy.Mode == gpu.ClocksFree || policy.Mode == ""
	dev, obstacle := l.controller()
	switch {
	case obstacle != nil && free:
		return nil, nil
	case obstacle != nil:
		return []Notice{*obstacle}, nil
	}
	before, err := l.dev.State(ctx)
	if err != nil && before.At.IsZero() {
		return nil, fmt.Errorf("cannot set the clocks of %s: %w", name, err)
	}
	c := change{lease: l, dev: dev, before: before, start: l.undo, plan: l.undo}
	persist := persistence && before.Persistence == "off"
	if persist && c.plan.Persistence == "" {
		c.plan.Persistence = "off"
	}
	c.plan.ResetClocks = c.plan.ResetClocks || !free
	if err := c.note(); err != nil {
		return nil, err
	}
	err = nil
	if persist {
		err = c.persist(ctx)
	}
	if err == nil && !free {
		err = c.lock(ctx, policy)
	}
	if err == nil && free && c.start.ResetClocks {
		err = c.unlock(ctx)
	}
	// Even after a failure, the note must list exactly what is left to undo.
	return c.notices, errors.Join(err, c.note())
}

// controller returns the device if this lease may change it, else the reason why not.
func (l *Lease) controller() (Controller, *Notice) {
	name := l.dev.Identity().Name
	dev, ok := l.dev.(Controller)
	switch {
	case !ok:
		return nil, &Notice{
			Code:    "clocks_unsupported",
			Message: fmt.Sprintf("pawl does not control the clocks of %s; measuring with free clocks", name),
			Fix:     "for a host CPU: sudo cpupower frequency-set -g performance",
		}
	case l.foreignNote:
		return nil, &Notice{
			Code:    "clocks_denied",
			Message: fmt.Sprintf("the clocks of %s are left unchanged: the changes of a process that died could not be undone yet", name),
		}
	default:
		return dev, nil
	}
}

// change is one SetClocks in progress.
type change struct {
	lease   *Lease
	dev     Controller
	before  gpu.State
	start   restoreNote // what had to be undone at the start
	plan    restoreNote // what Release must undo
	notices []Notice
}

// note makes the note on disk match the plan.
func (c *change) note() error {
	if c.plan == c.lease.undo {
		return nil
	}
	write := c.lease.lock.removeUndo
	if c.plan.any() {
		write = func() error { return c.lease.lock.writeUndo(c.plan) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("cannot update the restore file of %s: %w", c.dev.Identity().Name, err)
	}
	c.lease.undo = c.plan
	return nil
}

func (c *change) persist(ctx context.Context) error {
	err := c.dev.SetPersistence(ctx, true)
	if err == nil {
		return nil
	}
	return c.noticeFor(err, "persistence", "persistence mode stays off", "nvidia-smi -i "+c.dev.Identity().LockName()+" -pm 1", func() { c.plan.Persistence = c.start.Persistence })
}

func (c *change) lock(ctx context.Context, policy gpu.ClockPolicy) error {
	note, err := c.dev.LockClocks(ctx, policy)
	if err != nil {
		result := "measuring with " + c.lease.clocks.String() + " clocks"
		return c.noticeFor(err, "clocks", result, LockCommand(c.dev.Identity(), policy), func() { c.plan.ResetClocks = c.start.ResetClocks })
	}
	c.lease.clocks = policy
	if note != "" {
		c.notices = append(c.notices, Notice{Code: "clocks_other", Message: fmt.Sprintf("clocks of %s: %s", c.dev.Identity().Name, note)})
	}
	if c.before.Reasons&gpu.ClocksSetting != 0 {
		c.notices = append(c.notices, Notice{
			Code:    "clocks_were_set",
			Message: fmt.Sprintf("the clocks of %s seem to have been locked before; the driver does not report the value, so they will be free when this run ends", c.dev.Identity().Name),
			Fix:     "to keep your own lock, measure with the clock policy free",
		})
	}
	return nil
}

func (c *change) unlock(ctx context.Context) error {
	if err := c.dev.ResetClocks(ctx); err != nil {
		return err
	}
	c.plan.ResetClocks = false
	c.lease.clocks = gpu.ClockPolicy{Mode: gpu.ClocksFree}
	return nil
}

// noticeFor turns a refusal into a notice, and removes the refused change from the plan.
// Any other failure stays an error and stays in the plan: the change may have happened.
func (c *change) noticeFor(err error, what, result, command string, undone func()) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		undone()
		c.notices = append(c.notices, Notice{
			Code:    what + "_denied",
			Message: fmt.Sprintf("no permission to set %s on %s; %s", what, c.dev.Identity().Name, result),
			Fix:     fmt.Sprintf("run pawl as root, or set it as root before the run: sudo %s", command),
		})
		return nil
	case errors.Is(err, errors.ErrUnsupported):
		undone()
		c.notices = append(c.notices, Notice{
			Code:    what + "_unsupported",
			Message: fmt.Sprintf("%s or its driver cannot set %s; %s (%v)", c.dev.Identity().Name, what, result, err),
		})
		return nil
	default:
		return err
	}
}

// LockCommand returns the command with which a user locks the clocks of a GPU. That of AMD is for all cards of the
// machine: it numbers them in its own way.
func LockCommand(id gpu.Identity, policy gpu.ClockPolicy) string {
	mhz := "MHZ"
	if policy.Mode == gpu.ClocksFixed {
		mhz = strconv.Itoa(policy.MHz)
	}
	if id.Kind == gpu.AMD {
		return "amd-smi set --perf-determinism " + mhz
	}
	return fmt.Sprintf("nvidia-smi -i %s -lgc %s,%s", id.LockName(), mhz, mhz)
}

// FreeCommand returns the command with which a user frees the clocks of a GPU.
func FreeCommand(id gpu.Identity) string {
	if id.Kind == gpu.AMD {
		return "amd-smi reset --perf-determinism"
	}
	return fmt.Sprintf("nvidia-smi -i %s -rgc", id.LockName())
}
