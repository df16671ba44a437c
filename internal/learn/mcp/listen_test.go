package mcp

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A socket of a killed server is replaced, one in use is not.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Listen(t.Context(), path); err == nil {
		t.Error("two servers on one socket")
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if l, err = Listen(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Listen(t.Context(), write(t, dir, "file", "")); err == nil {
		t.Error("a file was replaced")
	}
}

func TestOnlyOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o702: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := onlyOurs(dir); got != want {
			t.Errorf("%v: %t", mode, got)
		}
	}
	in := filepath.Join(dir, "in") // a folder that others can replace is not ours
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o755: true, 0o777: false, 0o777 | os.ModeSticky: true} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := onlyOurs(in); got != want {
			t.Errorf("in %v: %t", mode, got)
		}
	}
	if onlyOurs(write(t, dir, "file", "")) || onlyOurs(filepath.Join(dir, "none")) {
		t.Error("a file, or nothing, is not a folder")
	}
}
