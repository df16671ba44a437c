package build

import (
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
