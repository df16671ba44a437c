package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Previous returns a folder with pawl, pawld and pawl-agent of the version before this one: of the last commit whose
// database schema is a beginning of today's, from the history of this clone. CI keeps them. It skips the test in a clone
// without history.
func Previous(t testing.TB) string {
	t.Helper()
	root := ""
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Skip("the previous version is not in this clone: ", err)
		}
		return strings.TrimSpace(string(out))
	}
	root = git("rev-parse", "--show-toplevel")
	const migrations = "internal/server/store/migrations/"
	steps := func(commit string) string {
		all := strings.Split(git("ls-tree", commit, migrations), "\n") // with their digests, in the order of their names
		return strings.Join(slices.DeleteFunc(all, func(line string) bool { return !strings.HasSuffix(line, ".sql") }), "\n")
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		t.Skip("the previous version is not in this clone: it lacks the history")
	}
	// Between two versions there may be commits with steps that were renamed later, and some that do not build.
	for change := range strings.FieldsSeq(git("log", "-20", "--format=%H", "--", migrations+"*.sql")) {
		before := git("rev-parse", change+"^")
		if s := steps(before); s == steps("HEAD") || !strings.HasPrefix(steps("HEAD"), s) {
			continue
		}
		if dir := buildAt(t, git, before); dir != "" {
			t.Logf("the previous version is %s", git("log", "-1", "--format=%h of %cs, %s", before))
			return dir
		}
	}
	t.Fatal("no previous version was found")
	return ""
}

// buildAt builds the programs of a commit into a folder of its own; "" if they do not build.
func buildAt(t testing.TB, git func(args ...string) string, commit string) string {
	t.Helper()
	kept := filepath.Join(t.TempDir(), commit)
	if cache, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(filepath.Join(cache, "pawl-ci")); err == nil {
			kept = filepath.Join(cache, "pawl-ci", "previous", commit)
		}
	}
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "source.tar")
	git("archive", "--format=tar", "-o", source, commit)
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", source, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	built, err := os.MkdirTemp(filepath.Dir(kept), "build-") //nolint:usetesting // a rename needs one file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(built)
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", built+"/", "./cmd/pawl", "./cmd/pawld", "./cmd/pawl-agent")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Logf("%s does not build: %v\n%s", commit, err, out)
		return ""
	}
	if err := os.Rename(built, kept); err != nil && !os.IsExist(err) { // another test may have been faster
		t.Fatal(err)
	}
	return kept
}
