package build

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
)

// Both names of what was moved, what is new and not tracked, and names that no list
// separated by lines or spaces could hold.
func TestChanged(t *testing.T) {
	r := inRepository(t)
	names := []string{" begins with a space", "with\nnewline", "with\"quote", "\xff\xfe", "deep/er/x", "ends with a space "}
	for _, name := range names {
		path := filepath.Join(r.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := append(slices.Clone(names), "k.c", "moved.c")
	slices.Sort(want)
	if _, err := git(t.Context(), r.Root, "mv", "k.c", "moved.c"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"not tracked", "tracked"} {
		got, err := r.Changed(t.Context(), "HEAD")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, error %v; want %q", step, got, err, want)
		}
		if _, err := git(t.Context(), r.Root, "add", "-A"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Changed(t.Context(), "nowhere"); err == nil {
		t.Error("a commit that does not exist has no changes")
	}
}

// Every change of the working tree changes its snapshot, except where it is ignored.
func TestSnapshot(t *testing.T) {
	r := inRepository(t)
	file := func(name string) string { return filepath.Join(r.Root, name) }
	last := ""
	for _, step := range []struct {
		name string
		do   func() error
		same bool
	}{
		{"nothing changed", func() error { return nil }, false},
		{"nothing changed again", func() error { return nil }, true},
		{"a file changed", func() error { return os.WriteFile(file("k.c"), []byte("one"), 0o644) }, false},
		{"it changed again", func() error { return os.WriteFile(file("k.c"), []byte("two"), 0o644) }, false},
		{"it may be run", func() error { return os.Chmod(file("k.c"), 0o755) }, false},
		{"it is gone", func() error { return os.Remove(file("k.c")) }, false},
		{"a new file", func() error { return os.WriteFile(file("new"), nil, 0o644) }, false},
		{"a link", func() error { return os.Symlink("new", file("link")) }, false},
		{"the link leads elsewhere", func() error { return errors.Join(os.Remove(file("link")), os.Symlink("nowhere", file("link"))) }, false},
		{"an ignored file", func() error { return os.WriteFile(file("ignored"), nil, 0o644) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		got, err := r.Snapshot(t.Context(), func(name string) bool { return name == "ignored" })
		if err != nil || (got == last) != step.same {
			t.Errorf("%s: %q after %q, error %v", step.name, got, last, err)
		}
		last = got
	}
}

func TestMentions(t *testing.T) {
	r := inRepository(t)
	for name, text := range map[string]string{"a.c": "int x;\n#include \"-n.md\"\n", "new\nline.c": "-n.md: twice\n-n.md\n", "binary": "\x00-n.md\n", ".gitignore": "ignored.c\n", "ignored.c": "-n.md\n"} {
		if err := os.WriteFile(filepath.Join(r.Root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Mentions(t.Context(), []string{"other.md", "-n.md"})
	if err != nil || len(got) < 3 || got[0] != (affected.Mention{File: "a.c", Line: `#include "-n.md"`}) {
		t.Errorf("%q, error %v", got, err)
	}
	for _, m := range got {
		if m.File == "ignored.c" || m.File == "binary" {
			t.Errorf("%s is no source", m.File)
		}
	}
	if got, err := r.Mentions(t.Context(), []string{"none.md"}); len(got) > 0 || err != nil {
		t.Errorf("a name that is nowhere: %q, error %v", got, err)
	}
}
