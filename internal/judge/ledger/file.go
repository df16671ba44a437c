package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/ratchet"
)

// file is a ledger in the tree. Writers lock the file itself, so that no other file is left in the tree.
type file struct {
	dir  string
	name string // below dir
}

func openFile(w Location) (*file, error) {
	f := &file{dir: cmp.Or(w.Dir, "."), name: filepath.Clean(cmp.Or(w.File, DefaultFile))}
	if !filepath.IsLocal(f.name) || f.name == "." {
		return nil, fmt.Errorf("ledger %s: must be a file inside %s", w.File, f.dir)
	}
	return f, nil
}

func (f *file) path() string { return filepath.Join(f.dir, f.name) }

// open opens the file below its folder. It follows no link out of the folder: on an untrusted
// branch a link may lead anywhere.
func (f *file) open(flag int) (*os.File, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if flag&os.O_CREATE != 0 {
		if err := root.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
			return nil, err
		}
	}
	opened, err := root.OpenFile(f.name, flag|syscall.O_NONBLOCK, 0o644) // do not block on a named pipe
	if err != nil {
		return nil, err
	}
	if info, err := opened.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a regular file", f.path()), err, opened.Close())
	}
	return opened, nil
}

func (f *file) load(context.Context) (version, error) {
	opened, err := f.open(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return version{}, nil
	}
	if err != nil {
		return version{}, fmt.Errorf("cannot read the ledger: %w", err)
	}
	defer opened.Close()
	data, err := readAll(opened)
	if err != nil {
		return version{}, fmt.Errorf("cannot read the ledger %s: %w", f.path(), err)
	}
	text, torn := splitTorn(data)
	return version{text: text, torn: torn}, nil
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, ratchet.MaxLedger+ratchet.MaxLine+1))
	if err == nil && len(data) > ratchet.MaxLedger+ratchet.MaxLine {
		err = fmt.Errorf("more than %d bytes, the maximum of a ledger", ratchet.MaxLedger)
	}
	return data, err
}

// splitTorn separates a ledger from an incomplete last line that a killed writer left. A complete line
// that only lacks its newline is kept. Text after a complete line does not come from a writer; it
// is kept too, so that it is reported.
func splitTorn(data []byte) (text, torn []byte) {
	begin := bytes.LastIndexByte(data, '\n') + 1
	if begin == len(data) || ratchet.CompleteLine(data[begin:]) {
		return data, nil
	}
	return data[:begin], data[begin:]
}

func (f *file) extend(ctx context.Context, old version, lines []byte, _ []ratchet.Entry) error {
	opened, err := f.open(os.O_RDWR | os.O_CREATE)
	if err != nil {
		return err
	}
	err = lock(ctx, opened)
	if err == nil {
		err = f.write(opened, old, lines)
	}
	if err := errors.Join(err, opened.Close()); err != nil { // closing unlocks
		return fmt.Errorf("%s: %w", f.path(), err)
	}
	return nil
}

// writeAt is replaced by tests, to kill a writer during a slow write.
var writeAt = (*os.File).WriteAt

// write adds lines to the locked file, if it is unchanged.
func (f *file) write(locked *os.File, old version, lines []byte) error {
	data, err := readAll(locked)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, append(bytes.Clone(old.text), old.torn...)) || !f.same(locked) {
		return errConflict
	}
	size := int64(len(old.text))
	if len(old.torn) > 0 {
		if err := locked.Truncate(size); err != nil {
			return err
		}
	}
	if _, err := writeAt(locked, lines, size); err != nil {
		return errors.Join(err, locked.Truncate(size)) // disk full: undo the partial write
	}
	if err := locked.Sync(); err != nil {
		return fmt.Errorf("the new lines may not be on disk: %w", err)
	}
	if !f.same(locked) {
		return errConflict // a checkout replaced the file: the lines went to the old one
	}
	if len(old.text) > 0 {
		return nil
	}
	return disk.SyncDir(filepath.Dir(f.path()))
}

// same reports whether the name still refers to the opened file.
func (f *file) same(opened *os.File) bool {
	mine, err := opened.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.path())
	return err == nil && os.SameFile(mine, named)
}

// lockPoll is how often a waiting writer tries the lock. A blocking lock could not be canceled.
const lockPoll = 2 * time.Millisecond

func lock(ctx context.Context, f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process is writing it: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}
