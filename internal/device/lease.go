package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// releaseTimeout bounds how long undoing may take. A run that is interrupted must
// still undo, so its cancelled context does not count.
const releaseTimeout = 30 * time.Second

// Lease is a device that this process alone may measure on.
type Lease struct {
	dev     Device
	notices []Notice
	self    undo // of this process, with nothing to undo
	stuck   bool // a note of another process stays, and must not be overwritten

	mu     sync.Mutex
	lock   *lock // nil once released
	undo   undo  // what the note on disk says
	clocks gpu.ClockPolicy
}

// Acquire waits until the device is free and takes it. If a process died while it
// held the device, its changes are undone first; Notices tells.
func Acquire(ctx context.Context, dev Device, opts LockOptions) (*Lease, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	id := dev.Identity()
	lock, notices, err := take(ctx, id.Name, id.LockName(), opts)
	if err != nil {
		return nil, err
	}
	l := &Lease{
		dev: dev, lock: lock, notices: notices, clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree},
		self: undo{Schema: schemaRestore, Device: id.LockName(), Boot: bootID(), By: self(opts.Owner, opts.Now())},
	}
	l.undo = l.self
	if notice := l.undoLeftover(ctx); notice != nil {
		l.notices = append(l.notices, *notice)
	}
	return l, nil
}

// Device is what is leased.
func (l *Lease) Device() Device { return l.dev }

// Notices tells what Acquire found and did.
func (l *Lease) Notices() []Notice { return l.notices }

// Clocks is the policy in force: what SetClocks was asked for if the device
// agreed, else free. Testbeds must name this one, not the one wished for.
func (l *Lease) Clocks() gpu.ClockPolicy {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clocks
}

// undoLeftover undoes what a process that died left changed.
func (l *Lease) undoLeftover(ctx context.Context) *Notice {
	l.lock.removeStale()
	path := l.lock.dir.path + "/" + l.lock.undoFile()
	left, err := l.lock.readUndo()
	if err != nil {
		l.stuck = true
		notice := l.lock.unreadable(l.dev.Identity().Name, err)
		return &notice
	}
	if left == nil {
		return nil
	}
	dev, ok := l.dev.(Controller)
	if !ok || left.stale(l.self.Boot) || !left.any() {
		_ = l.lock.removeUndo() // nothing is left of what it tells
		return nil
	}
	if err := left.apply(ctx, dev); err != nil {
		l.stuck = true // the note stays for someone who may
		return &Notice{
			Code:    "restore_failed",
			Message: fmt.Sprintf("%s died and left %s changed, which could not be undone: %v", left.By, l.dev.Identity().Name, err),
			Fix:     fmt.Sprintf("run pawl once as a user who may, or: sudo nvidia-smi -i %s -rgc, then remove %s", l.self.Device, path),
		}
	}
	if err := l.lock.removeUndo(); err != nil {
		return &Notice{Code: "restore_failed", Message: fmt.Sprintf("%s was brought back (%s), but the note %s stays: %v", l.dev.Identity().Name, left, path, err)}
	}
	return &Notice{
		Code:    "restored",
		Message: fmt.Sprintf("%s died and left %s changed; it was brought back: %s", left.By, l.dev.Identity().Name, left),
	}
}

// Release brings the device back to what it was, as far as that can be known, and
// lets others have it. It does so even when ctx is cancelled, and may be called
// again. After an error the device is free for others, and the note on disk makes
// the next Acquire try again.
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
		return fmt.Errorf("bringing %s back to what it was: %w; the next pawl on it tries again", l.dev.Identity().Name, err)
	}
	if err := l.lock.removeUndo(); err != nil {
		return fmt.Errorf("%s is as it was, but the note of what to undo stays: %w", l.dev.Identity().Name, err)
	}
	l.undo = l.self
	return nil
}

var errReleased = errors.New("the lease was released")
