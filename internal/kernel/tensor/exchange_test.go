package tensor_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

func TestSave_ReplacesALinkInsteadOfFollowingIt(t *testing.T) {
	for _, hard := range []bool{false, true} {
		outside, dir := filepath.Join(t.TempDir(), "precious"), t.TempDir()
		must(t, os.WriteFile(outside, []byte("mine"), 0o600))
		path := filepath.Join(dir, "in-0.safetensors")
		if hard {
			must(t, os.Link(outside, path))
		} else {
			must(t, os.Symlink(outside, path))
		}
		must(t, tensor.Save(path, nil))
		if got, _ := os.ReadFile(outside); string(got) != "mine" {
			t.Errorf("hard link %t: the file outside holds %q", hard, got)
		}
		if _, err := tensor.Load(path, 1<<10); err != nil {
			t.Error(err)
		}
	}
}

func TestExchange_RefusesWhatIsNoFile(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "real")
	must(t, tensor.Save(file, nil))
	for name, place := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(file, path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(dir, name)
		must(t, place(path))
		if _, err := tensor.Load(path, 1<<10); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	linked := filepath.Join(dir, "linked")
	must(t, os.Symlink(filepath.Dir(file), linked))
	if err := tensor.Save(filepath.Join(linked, "new"), nil); err == nil {
		t.Error("a folder that is a link was written to")
	}
}

var must = testrun.Must
