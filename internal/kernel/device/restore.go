package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
)

const (
	schemaRestore = "pawl.restore/v1"
	maxRestore    = 16 << 10
	bootIDFile    = "/proc/sys/kernel/random/boot_id"
)

// restoreNote describes how to restore a device to its state before a lease. It is written
// before the first change and removed after the last is undone. At any moment either
// the device is unchanged or the note says what to do. All steps can be repeated
// safely.
type restoreNote struct {
	Schema string `json:"schema"`
	Device string `json:"device"` // name of the lock it belongs to
	Boot   string `json:"boot,omitempty"`
	By     Holder `json:"by"`

	ResetClocks bool   `json:"reset_clocks,omitempty"`
	Persistence string `json:"persistence,omitempty"` // "off" or "on", as it was; empty if not touched
}

// any reports whether there is something to undo.
func (u restoreNote) any() bool { return u.ResetClocks || u.Persistence != "" }

// stale reports whether the machine has rebooted since, which also reset the device.
func (u restoreNote) stale(boot string) bool { return u.Boot != "" && boot != "" && u.Boot != boot }

// apply undoes the changes. Clocks come first: with persistence off the driver may
// unload, and on some machines the device must then be found again.
func (u restoreNote) apply(ctx context.Context, dev Controller) error {
	var failed error
	if u.ResetClocks {
		if err := dev.ResetClocks(ctx); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			failed = err
		}
	}
	if u.Persistence != "" {
		if err := dev.SetPersistence(ctx, u.Persistence == "on"); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// String describes what apply does.
func (u restoreNote) String() string {
	var done []string
	if u.ResetClocks {
		done = append(done, "free clocks")
	}
	if u.Persistence != "" {
		done = append(done, "persistence mode "+u.Persistence)
	}
	return strings.Join(done, ", ")
}

// bootID returns an ID that changes when the machine reboots, which also resets all GPU settings.
func bootID() string {
	b, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// undoFile returns the name of the note's file.
func (l *lock) undoFile() string { return l.name + ".restore" }

// writeUndo writes the note atomically: a crash leaves the old one or the new one.
func (l *lock) writeUndo(u restoreNote) error {
	b, err := json.Marshal(u)
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d.tmp", l.undoFile(), os.Getpid())
	_ = l.dir.Remove(tmp) // of an earlier process with the same PID
	f, err := l.dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = l.dir.Rename(tmp, l.undoFile())
	}
	if err != nil {
		_ = l.dir.Remove(tmp)
		return err
	}
	return l.dir.sync()
}

// removeUndo removes the note permanently.
func (l *lock) removeUndo() error {
	if err := l.dir.Remove(l.undoFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.dir.sync()
}

// sync makes renames and removals in the folder survive a power failure.
func (d *lockDir) sync() error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// readUndo reads the note of a dead process; nil if there is none. It reads only notes of
// this user and of root: anyone may write to the folder, and a note makes pawl change a
// device.
func (l *lock) readUndo() (*restoreNote, error) {
	name := l.undoFile()
	f, err := l.dir.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := l.dir.check(f, name); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !ownedByUserOrRoot(info) {
		return nil, errors.New("it belongs to another user")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRestore+1))
	if err != nil {
		return nil, err
	}
	return decodeUndo(b)
}

// unreadable returns a notice that a note exists but is ignored.
func (l *lock) unreadable(id gpu.Identity, err error) Notice {
	return Notice{
		Code:    "restore_unreadable",
		Message: fmt.Sprintf("the restore file %s/%s of %s was ignored: %v", l.dir.path, l.undoFile(), id.Name, err),
		Fix:     fmt.Sprintf("free the clocks with sudo %s, and remove the file", FreeCommand(id)),
	}
}

func decodeUndo(b []byte) (*restoreNote, error) {
	if len(b) > maxRestore {
		return nil, fmt.Errorf("it is larger than %d bytes", maxRestore)
	}
	var u restoreNote
	if err := json.Unmarshal(b, &u); err != nil {
		return nil, err
	}
	if u.Schema != schemaRestore {
		return nil, fmt.Errorf("it has schema %q, but this pawl supports %q", u.Schema, schemaRestore)
	}
	switch u.Persistence {
	case "", "on", "off":
	default:
		return nil, fmt.Errorf("it has the unknown persistence mode %q", u.Persistence)
	}
	u.By = u.By.clean()
	return &u, nil
}

// removeStale removes half-written notes of dead processes. The lock is held, so no
// other process is writing one.
func (l *lock) removeStale() {
	half, _ := fs.Glob(l.dir.FS(), l.undoFile()+".*.tmp")
	for _, name := range half {
		_ = l.dir.Remove(filepath.Base(name))
	}
}
