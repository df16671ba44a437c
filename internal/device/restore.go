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
)

const (
	schemaRestore = "pawl.restore/v1"
	maxRestore    = 16 << 10
	bootIDFile    = "/proc/sys/kernel/random/boot_id"
)

// undo says how to bring a device back to what it was before a lease. It is
// written before the first change and removed after the last was undone, so that
// at any moment either the device is as it was or the note says what to do. All
// of it may be done twice.
type undo struct {
	Schema string `json:"schema"`
	Device string `json:"device"` // whose lock it belongs to
	Boot   string `json:"boot,omitempty"`
	By     Holder `json:"by"`

	ResetClocks bool   `json:"reset_clocks,omitempty"`
	Persistence string `json:"persistence,omitempty"` // "off" or "on", as it was; empty if not touched
}

// any reports whether there is something to undo.
func (u undo) any() bool { return u.ResetClocks || u.Persistence != "" }

// stale reports whether the machine was started anew since, and with it the device.
func (u undo) stale(boot string) bool { return u.Boot != "" && boot != "" && u.Boot != boot }

// apply undoes. Clocks come first: with persistence off the driver may unload, and
// on some machines the device must then be found anew.
func (u undo) apply(ctx context.Context, dev Controller) error {
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

// String says what apply does.
func (u undo) String() string {
	var done []string
	if u.ResetClocks {
		done = append(done, "clocks freed")
	}
	if u.Persistence != "" {
		done = append(done, "persistence mode "+u.Persistence)
	}
	return strings.Join(done, ", ")
}

// bootID changes when the machine starts anew, and with it every GPU setting.
func bootID() string {
	b, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// undoFile is where the note of a device stands.
func (l *lock) undoFile() string { return l.name + ".restore" }

// writeUndo writes the note so that a crash leaves the old one or the new one.
func (l *lock) writeUndo(u undo) error {
	b, err := json.Marshal(u)
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d.tmp", l.undoFile(), os.Getpid())
	_ = l.dir.Remove(tmp) // of an earlier process with our number
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

// removeUndo removes the note for good.
func (l *lock) removeUndo() error {
	if err := l.dir.Remove(l.undoFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.dir.sync()
}

// sync makes renames and removals in the folder survive a power cut.
func (d *lockDir) sync() error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// readUndo reads the note a process that died left behind; nil if there is none.
// Only notes of this user and of root are read: anyone may write to the folder,
// and a note makes us change a device.
func (l *lock) readUndo() (*undo, error) {
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
	if !ours(info) {
		return nil, errors.New("it belongs to another user")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRestore+1))
	if err != nil {
		return nil, err
	}
	return decodeUndo(b)
}

// unreadable tells that there is a note, and that it does not count.
func (l *lock) unreadable(device string, err error) Notice {
	return Notice{
		Code:    "restore_unreadable",
		Message: fmt.Sprintf("the note %s/%s of what to undo on %s was ignored: %v", l.dir.path, l.undoFile(), device, err),
		Fix:     "check the clocks with nvidia-smi and remove the file",
	}
}

func decodeUndo(b []byte) (*undo, error) {
	if len(b) > maxRestore {
		return nil, fmt.Errorf("it is larger than %d bytes", maxRestore)
	}
	var u undo
	if err := json.Unmarshal(b, &u); err != nil {
		return nil, err
	}
	if u.Schema != schemaRestore {
		return nil, fmt.Errorf("it is of schema %q, this pawl knows %q", u.Schema, schemaRestore)
	}
	switch u.Persistence {
	case "", "on", "off":
	default:
		return nil, fmt.Errorf("it asks for persistence mode %q", u.Persistence)
	}
	u.By = u.By.clean()
	return &u, nil
}

// removeStale removes half-written notes of processes that died. We hold the
// lock, so nobody else is writing one.
func (l *lock) removeStale() {
	half, _ := fs.Glob(l.dir.FS(), l.undoFile()+".*.tmp")
	for _, name := range half {
		_ = l.dir.Remove(filepath.Base(name))
	}
}
