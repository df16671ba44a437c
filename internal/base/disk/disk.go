// Package disk writes files atomically: after a power cut, a file is complete or absent.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteAtomic writes a file that everyone may read atomically and durably: readers see all of it or none of it.
func WriteAtomic(path string, text []byte) error {
	return Replace(path, 0o644, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// Replace writes a file atomically and durably. If write fails, the old file stays.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename
	if err := errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir flushes a folder, so that the names in it survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot sync the folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
