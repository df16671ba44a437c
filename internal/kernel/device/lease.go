package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// releaseTimeout bounds how long Release may take to undo changes. It applies instead
// of the run's context, because an interrupted run must still undo.
const releaseTimeout = 30 * time.Second

// Lease is the exclusive right of this process to measure on a device.
type Lease struct {
	dev         Device
	notices     []Notice
	self        restoreNote // the note of this process, with nothing to undo
	foreignNote bool        // the note of another process remains and must not be overwritten

	mu     sync.Mutex
	lock   *lock       // nil once released
	undo   restoreNote // content of the note on disk
	clocks gpu.ClockPolicy
}

// Acquire waits until the device is free and takes it. If a process died while it
// held the device, Acquire first undoes its changes and adds a notice.
func Acquire(ctx context.Context, dev Device, opts LockOptions) (*Lease, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	id := dev.Identity()
	lock, notices, err := acquireLock(ctx, id.Name, id.LockName(), opts)
	if err != nil {
		return nil, err
	}
	l := &Lease{
		dev: dev, lock: lock, notices: notices, clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree},
		self: restoreNote{Schema: schemaRestore, Device: id.LockName(), Boot: bootID(), By: self(opts.Owner, opts.Now())},
	}
	l.undo = l.self
	if notice := l.undoLeftover(ctx); notice != nil {
		l.notices = append(l.notices, *notice)
	}
	return l, nil
}

// Device returns the leased device.
func (l *Lease) Device() Device { return l.dev }

// Notices returns what Acquire found and did.
func (l *Lease) Notices() []Notice { return l.notices }

// Clocks returns the policy in force: the one given to SetClocks if the device
// accepted it, else free. Testbeds must name this policy, not the requested one.
func (l *Lease) Clocks() gpu.ClockPolicy {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clocks
}

// undoLeftover undoes changes that a dead process left behind.
func (l *Lease) undoLeftover(ctx context.Context) *Notice {
	l.lock.removeStale()
	path := l.lock.dir.path + "/" + l.lock.undoFile()
	left, err := l.lock.readUndo()
	if err != nil {
		l.foreignNote = true
		notice := l.lock.unreadable(l.dev.Identity(), err)
		return &notice
	}
	if left == nil {
		return nil
	}
	dev, ok := l.dev.(Controller)
	if !ok || left.stale(l.self.Boot) || !left.any() {
		_ = l.lock.removeUndo() // nothing in it is left to undo
		return nil
	}
	if err := left.apply(ctx, dev); err != nil {
		l.foreignNote = true // the note stays for a process with enough permission
		return &Notice{
			Code:    "restore_failed",
			Message: fmt.Sprintf("%s died and left %s changed; pawl cannot restore it: %v", left.By, l.dev.Identity().Name, err),
			Fix:     fmt.Sprintf("run pawl once as a user with permission, or run sudo %s, then remove %s", FreeCommand(l.dev.Identity()), path),
		}
	}
	if err := l.lock.removeUndo(); err != nil {
		return &Notice{Code: "restore_failed", Message: fmt.Sprintf("%s was restored (%s), but pawl cannot remove the restore file %s: %v", l.dev.Identity().Name, left, path, err)}
	}
	return &Notice{
		Code:    "restored",
		Message: fmt.Sprintf("%s died and left %s changed; pawl restored it: %s", left.By, l.dev.Identity().Name, left),
	}
}

// Release restores the device, as far as its previous settings are known, and frees it
// for others. It does so even if ctx is canceled, and may be called again. After an
// error the device is free for others, and the note on disk makes the next Acquire try
// again.
func (l *Lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	defer func() {
		l.lock.release()
		l.lock = nil
		l.clocks = gpu.ClockPolicy{Mode: gpu.ClocksFree}
	}()
	dev, ok := l.dev.(Controller)
	if !ok || !l.undo.any() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := l.undo.apply(ctx, dev); err != nil {
		return fmt.Errorf("cannot restore %s: %w; the next pawl run on it tries again", l.dev.Identity().Name, err)
	}
	if err := l.lock.removeUndo(); err != nil {
		return fmt.Errorf("%s was restored, but pawl cannot remove its restore file: %w", l.dev.Identity().Name, err)
	}
	l.undo = l.self
	return nil
}

var errReleased = errors.New("the lease was released")
