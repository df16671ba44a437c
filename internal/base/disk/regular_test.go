package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o644), os.Symlink(file, link), syscall.Mkfifo(fifo, 0o644)); err != nil {
		t.Fatal(err)
	}
	if text, err := disk.ReadRegular(file, 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := disk.ReadRegular(file, 3); !errors.Is(err, disk.ErrTooLarge) {
		t.Errorf("a larger file: %v", err)
	}
	for _, path := range []string{link, fifo, dir, os.DevNull} {
		if _, err := disk.ReadRegular(path, 10); !errors.Is(err, disk.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := disk.ReadRegular(filepath.Join(dir, "none"), 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o644), os.Symlink(file, link), syscall.Mkfifo(fifo, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		f, err := disk.OpenRegular(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		f.Close()
	}
	for _, path := range []string{fifo, dir, os.DevNull} {
		if _, err := disk.OpenRegular(path); !errors.Is(err, disk.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := disk.OpenRegular(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
