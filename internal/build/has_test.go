package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestHas(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
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
