package lesson

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a cache has is what reading gives, an edit is seen, and a cache that is no cache
// changes nothing.
func TestCache(t *testing.T) {
	f := Folder{Root: t.TempDir(), Cache: filepath.Join(t.TempDir(), "not there yet")}
	share := 0.2
	l := example("A lesson of our own")
	l.Claim = &share
	path, err := f.Add(l)
	if err != nil {
		t.Fatal(err)
	}
	read := func(cached bool) map[string]*Lesson {
		t.Helper()
		from := f
		if !cached {
			from.Cache = ""
		}
		b, err := from.Read()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*Lesson{}
		for _, e := range b.entries {
			all[e.lesson.Name] = e.lesson
		}
		return all
	}
	same := func(when string) {
		t.Helper()
		if d := cmp.Diff(read(false), read(true), cmpopts.IgnoreUnexported(Lesson{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	same("first")
	files, err := os.ReadDir(f.Cache)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files in the cache: %v", len(files), err)
	}
	file := filepath.Join(f.Cache, files[0].Name())
	before, _ := os.Stat(file)
	same("from the cache")
	if after, _ := os.Stat(file); !after.ModTime().Equal(before.ModTime()) {
		t.Error("it was written again though nothing is new")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "\nAnother line.\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	same("edited")
	for _, bad := range []string{"", "nonsense", cacheForm + "x\ty\n", cacheForm + "\n\n\t\n"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		same("spoilt by " + bad)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	same("taken away")
}
