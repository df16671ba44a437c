// Package scratch makes folders for temporary files. A process that is killed leaves its folders behind; the next
// process of the same kind removes them. The package must not know what the files are for.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Folder is a temporary folder in use. Keep it referenced: its lock ends with it, and a folder without a lock counts as
// left behind.
type Folder struct {
	Path string
	lock *os.File // the folder itself, locked; another container sees that lock, but not the process
}

const suffix = ".tmp"

// cleaned has the places that this process has already cleaned, by parent and prefix.
var cleaned sync.Map

// New creates a folder named pawl-NAME-RANDOM.tmp below parent. An empty parent is the default one for temporary files.
// The first call of a process also removes the folders of that name whose processes have ended.
func New(parent, name string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	prefix := "pawl-" + name + "-"
	if _, done := cleaned.LoadOrStore(filepath.Join(parent, prefix), true); !done {
		removeAbandoned(parent, prefix)
	}
	for {
		path, err := os.MkdirTemp(parent, prefix+"*"+suffix)
		if err != nil {
			return nil, err
		}
		f := &Folder{Path: path}
		switch f.lock, err = lock(path, syscall.LOCK_EX); {
		case os.IsNotExist(err): // another process took it for abandoned before it was locked
		case err != nil:
			_ = os.Remove(path)
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		default:
			return f, nil
		}
	}
}

// Remove deletes the folder.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	_ = f.lock.Close()
	return err
}

// lock locks a folder. If it was removed meanwhile, the error is os.ErrNotExist.
func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), how); err == nil {
		var opened, named os.FileInfo
		if opened, err = f.Stat(); err == nil {
			named, err = os.Lstat(path)
		}
		if err == nil && !os.SameFile(opened, named) {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeAbandoned deletes the user's own folders that no process has locked. What cannot be deleted stays.
func removeAbandoned(parent, prefix string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		held, err := lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue
		}
		if own(held) {
			_ = os.RemoveAll(path)
		}
		held.Close()
	}
}

// own reports whether a folder belongs to this user. Others may have folders of that name in a shared place.
func own(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
