package runner

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPrefix_IsFoundFirstAndEmptied(t *testing.T) {
	dir := t.TempDir()
	s := side{name: "candidate", dir: dir}
	prefix := filepath.Join(dir, ".pawl", "prefix")
	packages := filepath.Join(prefix, "local", "lib", "python3.11", "dist-packages")
	for _, folder := range []string{filepath.Join(prefix, "bin"), filepath.Join(prefix, "lib"), packages} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"PATH": "/usr/bin", "PYTHONPATH": "", "LD_LIBRARY_PATH": ""}
	want := []string{
		"PAWL_PREFIX=" + prefix, "PYTHONPATH=" + packages + ":" + dir,
		"LD_LIBRARY_PATH=" + filepath.Join(prefix, "lib") + ":" + filepath.Join(prefix, "local", "lib"), "PATH=" + filepath.Join(prefix, "bin") + ":/usr/bin",
	}
	if got := s.paths(env); !slices.Equal(got, want) {
		t.Errorf("paths are %q, want %q", got, want)
	}
	if err := emptyPrefix(dir); err != nil {
		t.Fatal(err)
	}
	if isFolder(prefix) {
		t.Error("what an earlier build installed is still there")
	}
	if got := s.paths(env); len(got) != 2 {
		t.Errorf("without an install folder the paths are %q", got)
	}
}

// A tree may contain a link instead of pawl's folder.
func TestPrefix_DoesNotFollowLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	kept := filepath.Join(outside, "prefix", "kept")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".pawl")); err != nil {
		t.Fatal(err)
	}
	if err := emptyPrefix(dir); err == nil {
		t.Error("a link out of the tree is followed to remove files")
	}
	if err := ignorePrefix(dir); err == nil {
		t.Error("a link out of the tree is followed to write a file")
	}
	if !isFolder(kept) {
		t.Error("a folder outside of the tree was removed")
	}
}
