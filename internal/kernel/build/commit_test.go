package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// A commit of changes leaves the working tree and its index alone, and is the same for the same changes.
func TestCommitChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		return testrun.Git(t, dir, args...)
	}
	run("init", "-q")
	for name, text := range map[string]string{"a.c": "a\n", "b.c": "b\n", ".gitattributes": "*.c filter=upper\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	run("add", ".")
	run("commit", "-q", "-m", "base")
	run("config", "filter.upper.clean", "tr a-z A-Z")
	before := run("status", "--porcelain")
	repo, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	changes := []FileChange{{Path: "a.c", Mode: ModeFile, Content: []byte("new\n")}, {Path: "b.c"}, {Path: "k/run.sh", Mode: ModeExecutable}, {Path: "link/passwd", Mode: ModeFile}}
	commit, err := repo.CommitChanges(t.Context(), "HEAD", "refs/pawl/test", "changes", changes)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := repo.CommitChanges(t.Context(), "HEAD", "refs/pawl/test", "changes", changes); err != nil || again != commit {
		t.Errorf("%s, %v; want %s", again, err, commit)
	}
	if status := run("status", "--porcelain"); status != before {
		t.Errorf("the working tree changed: %s", status)
	}
	got, err := repo.TreeChanges(t.Context(), "HEAD", commit)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range got {
		list = append(list, strings.TrimSpace(e.Path+" "+e.Mode))
	}
	if text, want := strings.Join(list, ", "), "a.c 100644, b.c, k/run.sh 100755, link, link/passwd 100644"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	e, ok, err := repo.File(t.Context(), commit, "a.c")
	if err != nil || !ok {
		t.Fatal(e, ok, err)
	}
	if content, err := repo.Content(t.Context(), e.Object); err != nil || string(content) != "new\n" {
		t.Errorf("%q, %v: want the content without filters", content, err)
	}
	if _, ok, err := repo.File(t.Context(), commit, "b.c"); ok || err != nil {
		t.Errorf("a deleted file is there: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const log = "a.c:1:2: error: one\na.c:1:2: error: one\na.c: In function f:\nb.c:7: error: two\nc.cu(9): error: three\nd.c:1:1: error: four\nmake: *** [x] Error 1\n"
	var list []string
	for _, d := range Errors(log, 3) {
		list = append(list, d.Where()+" "+d.Message)
	}
	if got, want := strings.Join(list, ", "), "a.c:1:2 one, b.c:7 two, c.cu:9 three"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if vague := Errors("make: *** [x] Error 1\nmake: *** [y] Error 1\n", 3); len(vague) != 1 {
		t.Errorf("%+v", vague)
	}
}
