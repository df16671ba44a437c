package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNew_RemovesWhatKilledProcessesLeft(t *testing.T) {
	parent := t.TempDir()
	abandoned := filepath.Join(parent, "pawl-x-1.tmp")
	others := []string{"pawl-y-1.tmp", "pawl-x-1", "notes"}
	for _, dir := range append([]string{"pawl-x-1.tmp/sub"}, others...) {
		if err := os.MkdirAll(filepath.Join(parent, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, err := New(parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abandoned); !os.IsNotExist(err) {
		t.Errorf("an abandoned folder is still there: %v", err)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(parent, name)); err != nil {
			t.Error(err)
		}
	}
	removeAbandoned(parent, "pawl-x-") // what another process would do
	if _, err := os.Stat(first.Path); err != nil {
		t.Errorf("a folder in use was removed: %v", err)
	}
	if err := first.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(first.Path); !os.IsNotExist(err) {
		t.Errorf("a removed folder is still there: %v", err)
	}
}

// A process that is killed releases its lock, and nothing else.
func TestNew_LockEndsWithTheProcess(t *testing.T) {
	parent := t.TempDir()
	f, err := New(parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	f.lock.Close()
	removeAbandoned(parent, "pawl-x-")
	if _, err := os.Stat(f.Path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// A link that is named like a folder leads nowhere.
func TestNew_DoesNotFollowLinks(t *testing.T) {
	parent, other := t.TempDir(), t.TempDir()
	kept := filepath.Join(other, "file")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(parent, "pawl-x-1.tmp")); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(parent, "pawl-x-")
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
