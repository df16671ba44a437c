package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := folderFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

// A room has the sources as they were when rooms were asked for: changed, new and deleted
// files included, ignored ones not, unless they are asked for.
func TestRooms(t *testing.T) {
	for _, tracked := range []bool{true, false} {
		p := newProject(t)
		p.write("suite/old.c", "old\n")
		p.commit()
		p.write("suite/k.c", "changed\n")
		p.write("suite/new.c", "new\n")
		p.write("suite/k.o", "an object\n")
		p.write("suite/data.o", "weights\n")
		p.write("suite/.pawl/corpus/1", "pawl's own\n")
		p.write("suite/results/current.json", "a result\n")
		p.write("suite/made.txt", "an output\n")
		if err := os.Remove(filepath.Join(p.dir, "old.c")); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"suite/k.c": "changed\n", "suite/new.c": "new\n", "include/k.h": "header\n", ".gitignore": "out\n*.o\n", "suite/data.o": "weights\n"}
		if !tracked { // then the suite's folder is all there is
			if err := os.RemoveAll(filepath.Join(p.root, ".git")); err != nil {
				t.Fatal(err)
			}
			want = map[string]string{"k.c": "changed\n", "new.c": "new\n", "k.o": "an object\n", "data.o": "weights\n"}
		}
		path := filepath.Join(t.TempDir(), "rooms")
		rooms, err := NewSourceCopies(t.Context(), path, p.dir, []string{"data.o"}, []string{"results", "made.txt"})
		if err != nil {
			t.Fatal(err)
		}
		p.write("suite/k.c", "edited while rooms are in use\n")
		a, err := rooms.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := rooms.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a fresh room", want, contents(t, a.root))

		for name, text := range map[string]string{"out": "built", "deep/x.o": "object", "k.c": "generated anew", "new.c": "and this"} {
			at := filepath.Join(a.Dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		header := filepath.Join(a.root, "include/k.h")
		if tracked {
			if err := os.Remove(header); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "the other room", want, contents(t, b.root))
		for range 2 {
			if err := a.Clean(t.Context()); err != nil {
				t.Fatal(err)
			}
			same(t, "a room after a build", want, contents(t, a.root))
		}
		for _, room := range []*SourceCopy{a, b} {
			if err := room.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(room.root); err == nil {
				t.Errorf("%s is still there", room.root)
			}
		}
		if err := rooms.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %s is %q, want %q", what, name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s has %s", what, name)
		}
	}
}

// Two rooms build one command with two values, and what the first left is in neither.
func TestRoomsBuildApart(t *testing.T) {
	p := newProject(t)
	rooms, err := NewSourceCopies(t.Context(), filepath.Join(t.TempDir(), "rooms"), p.dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	room, err := rooms.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer room.Remove(t.Context())
	for _, tile := range []string{"8", "16", "8"} {
		r := p.recipe()
		r.Dir = room.Dir
		// As make does it: what is there is not made again.
		r.Command = "echo built >>" + p.counter + "; test -f k.o || echo " + tile + " >k.o; cat k.o >out"
		if _, err := Make(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if out, _ := os.ReadFile(filepath.Join(room.Dir, "out")); strings.TrimSpace(string(out)) != tile {
			t.Errorf("tile %s: built %q", tile, out)
		}
		if err := room.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p.built() != 2 {
		t.Errorf("built %d times, want 2: the third is kept in the cache", p.built())
	}
}
