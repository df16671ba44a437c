package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"a long text", "short", ""} {
		if err := WriteAtomic(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q: %v, want %q", got, err, text)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	if err := WriteAtomic(filepath.Join(nowhere, "file"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := SyncDir(nowhere); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
