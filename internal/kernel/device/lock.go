package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockPoll is how often a waiting process checks whether the device is free.
const lockPoll = 100 * time.Millisecond

// LockOptions describe how to acquire a device.
type LockOptions struct {
	// Dir holds the locks. Empty means the variable PAWL_LOCK_DIR, else
	// /run/lock/pawl, else /var/tmp/pawl-locks. All processes that measure on a
	// machine must share one folder; a container needs it mounted.
	Dir string
	// Owner describes this process to others, such as its command line.
	Owner string
	// Wait is how long to wait while another process holds the device; 0 means not at all.
	Wait time.Duration
	// OnWait is called when waiting starts and whenever the holder changes.
	OnWait func(Holder)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// HeldError means that another process held the device for longer than the wait limit.
type HeldError struct {
	Device string // name of the device
	Holder Holder
	Waited time.Duration
}

func (e *HeldError) Error() string {
	if e.Waited == 0 {
		return fmt.Sprintf("%s is in use by %s: wait for it, or choose another device", e.Device, e.Holder)
	}
	return fmt.Sprintf("%s is still in use by %s after waiting %s: wait longer, or choose another device", e.Device, e.Holder, e.Waited)
}

// lock is the lock of a device, open but not necessarily held.
type lock struct {
	dir  *lockDir
	name string // name of the device's files in dir, without extension
	file *os.File
}

// acquireLock opens the lock in the first usable folder and waits until it is acquired.
func acquireLock(ctx context.Context, device, name string, opts LockOptions) (*lock, []Notice, error) {
	l, notices, err := openLock(name, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("locking %s: %w", device, err)
	}
	if err := l.wait(ctx, device, opts); err != nil {
		l.close()
		return nil, nil, err
	}
	self(opts.Owner, opts.Now()).write(l.file)
	return l, notices, nil
}

// openLock opens the lock file in the first usable folder.
func openLock(name string, opts LockOptions) (*lock, []Notice, error) {
	var notices []Notice
	var failed error
	for i, path := range lockDirs(opts) {
		dir, err := openLockDir(path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		file, err := openReplaced(dir, fileName(name)+".lock")
		if err != nil {
			dir.Close()
			failed = errors.Join(failed, err)
			continue
		}
		if i > 0 {
			notices = append(notices, Notice{
				Code:    "lock_folder",
				Message: fmt.Sprintf("locks are stored in %s because %s is not usable; users who lock there may measure at the same time as you", path, defaultLockDirs[0]),
				Fix:     fmt.Sprintf("sudo install -d -m 1777 %s", defaultLockDirs[0]),
			})
		}
		return &lock{dir: dir, name: fileName(name), file: file}, notices, nil
	}
	return nil, nil, fmt.Errorf("%w; set %s to a folder that you can write to and that all users of the device share", failed, LockDirVar)
}

// openReplaced opens the lock file, and retries if the file is replaced meanwhile.
func openReplaced(dir *lockDir, name string) (*os.File, error) {
	for range openAttempts {
		f, err := dir.openLockFile(name)
		if !errors.Is(err, errReplaced) {
			return f, err
		}
	}
	return nil, fmt.Errorf("the lock file %s/%s keeps being replaced", dir.path, name)
}

// wait polls until the lock is acquired. Blocking in the kernel instead could not be
// canceled.
func (l *lock) wait(ctx context.Context, device string, opts LockOptions) error {
	began := time.Now()
	var told *Holder
	for {
		got, err := l.try()
		if err != nil {
			return fmt.Errorf("locking %s: %w", device, err)
		}
		if got {
			return nil
		}
		holder := readHolder(l.file)
		waited := time.Since(began)
		// An unknown holder is just writing its name, or is about to end: check again first.
		known := holder.PID != 0 || told == nil && waited >= time.Second
		if opts.OnWait != nil && opts.Wait > 0 && known && (told == nil || *told != holder) {
			told = &holder
			opts.OnWait(holder)
		}
		if waited >= opts.Wait {
			return &HeldError{Device: device, Holder: holder, Waited: opts.Wait}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped waiting for %s, in use by %s: %w", device, holder, context.Cause(ctx))
		case <-time.After(min(lockPoll, opts.Wait-waited)):
		}
	}
}

// try takes the lock if it is free and its file is still the one that others will open.
func (l *lock) try() (bool, error) {
	for {
		got, err := tryLock(l.file)
		if !got || err != nil {
			return false, err
		}
		err = l.dir.check(l.file, l.name+".lock")
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, errReplaced) && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		file, err := openReplaced(l.dir, l.name+".lock")
		if err != nil {
			return false, err
		}
		l.file.Close()
		l.file = file
	}
}

// release empties the file, so that it does not name a holder that has ended, and
// releases the lock. The file stays: if it were removed, two processes could lock two
// files of the same name.
func (l *lock) release() {
	_ = l.file.Truncate(0)
	l.close()
}

func (l *lock) close() {
	l.file.Close()
	l.dir.Close()
}
