package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// emptyFolder returns a folder, and a function that runs git there.
func emptyFolder(t *testing.T) (dir string, run func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	dir = t.TempDir()
	return dir, func(args ...string) {
		t.Helper()
		testrun.Git(t, dir, args...)
	}
}

func TestHas(t *testing.T) {
	dir, run := emptyFolder(t)
	for _, name := range []string{"sub/old.c", "sub/new.c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet")
	run("add", "sub/old.c")
	run("commit", "--quiet", "-m", "one")
	repo, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"sub/old.c": true, "sub/new.c": false, "old.c": false, "nowhere/old.c": false} {
		if got := repo.Has(t.Context(), "HEAD", filepath.Join(dir, name)); got != want {
			t.Errorf("HEAD has %s: %t, want %t", name, got, want)
		}
	}
}

// A change that was taken back counts: a commit in between had another file.
func TestChangedSince(t *testing.T) {
	dir, run := emptyFolder(t)
	suite, extended, other := filepath.Join(dir, "pawl.yaml"), filepath.Join(dir, "common[1].yaml"), filepath.Join(dir, "kernel.cu")
	commit := func(texts map[string]string) {
		t.Helper()
		for path, text := range texts {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		run("add", "-A")
		run("commit", "--quiet", "-m", "a change")
	}
	run("init", "--quiet")
	commit(map[string]string{suite: "1", extended: "1", other: "1"})
	commit(map[string]string{extended: "2"})
	commit(map[string]string{extended: "1"})
	commit(map[string]string{other: "2"})
	repo, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		commit string
		files  []string
		want   bool
	}{
		{"HEAD", []string{suite, extended, other}, false},
		{"HEAD~1", []string{suite, extended}, false},
		{"HEAD~1", []string{suite, other}, true},
		{"HEAD~3", []string{suite}, false},
		{"HEAD~3", []string{suite, extended}, true},
	} {
		if got, err := repo.ChangedSince(t.Context(), c.commit, c.files); err != nil || got != c.want {
			t.Errorf("%v since %s: %v, %v", c.files, c.commit, got, err)
		}
	}
	if _, err := repo.ChangedSince(t.Context(), "0123456789012345678901234567890123456789", []string{suite}); err == nil {
		t.Error("a commit that is not here has a history")
	}
}
