package keep_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/keep"
)

// folder makes of each file its text, and counts how often it reads one. What says "loose"
// is not kept.
type folder struct {
	keep.Folder[string]
	reads atomic.Int64
}

func newFolder(t *testing.T, files ...string) *folder {
	t.Helper()
	dir := t.TempDir()
	f := &folder{}
	f.Folder = keep.Folder[string]{
		Dir: dir, File: filepath.Join(dir, "open", "kept"), Form: "form 1\n",
		Names: func() ([]string, error) {
			found, err := filepath.Glob(filepath.Join(dir, "*.txt"))
			for i := range found {
				found[i] = filepath.Base(found[i])
			}
			return found, err
		},
		Read: func(path string) (string, bool) {
			f.reads.Add(1)
			text, err := os.ReadFile(path)
			return string(text), err == nil && string(text) != "loose"
		},
		Pack:   func(p *keep.Pack, s *string) { p.Text(*s) },
		Unpack: func(u *keep.Unpack, s *string) { *s = u.Text() },
	}
	for _, name := range files {
		f.write(t, name, "text of "+name)
	}
	f.quiet(t)
	return f
}

func (f *folder) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// quiet makes the folder one that has had its files for a while, each time another.
func (f *folder) quiet(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.File), 0o755); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour).Add(time.Duration(f.reads.Load()) * time.Minute)
	if err := os.Chtimes(f.Dir, at, at); err != nil {
		t.Fatal(err)
	}
}

// want looks, and says which texts there should be and how many files are read for them.
func (f *folder) want(t *testing.T, reads int64, texts ...string) {
	t.Helper()
	f.reads.Store(0)
	made, err := f.All()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range made {
		got = append(got, m.Value)
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Error(diff)
	}
	if f.reads.Load() != reads {
		t.Errorf("%d files were read, want %d", f.reads.Load(), reads)
	}
}

func TestFilesAreReadOnce(t *testing.T) {
	f := newFolder(t, "a.txt", "b.txt", "c.txt")
	f.want(t, 3, "text of a.txt", "text of b.txt", "text of c.txt")
	f.want(t, 0, "text of a.txt", "text of b.txt", "text of c.txt")
	f.write(t, "b2.txt", "new")
	f.want(t, 1, "text of a.txt", "text of b.txt", "new", "text of c.txt")
	if err := os.Remove(filepath.Join(f.Dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	f.want(t, 0, "text of b.txt", "new", "text of c.txt")
	f.write(t, "d.txt", "x") // the folder is not quiet, so a file that changed in place is seen too
	f.write(t, "c.txt", "longer than it was")
	f.want(t, 2, "text of b.txt", "new", "longer than it was", "x")
	f.Form = "form 2\n"
	f.want(t, 4, "text of b.txt", "new", "longer than it was", "x")
}

// What is not to be kept is read each time, also from a quiet folder, and the rest is not.
func TestLooseFilesAreReadEachTime(t *testing.T) {
	f := newFolder(t, "a.txt")
	f.write(t, "b.txt", "loose")
	f.quiet(t)
	f.want(t, 2, "text of a.txt", "loose")
	f.quiet(t)
	for range 2 {
		f.want(t, 1, "text of a.txt", "loose")
	}
}

// A file that is not as it should be is no more than a slow start.
func TestKeptFileThatIsBroken(t *testing.T) {
	f := newFolder(t, "a.txt", "b.txt")
	f.want(t, 2, "text of a.txt", "text of b.txt")
	whole, err := os.ReadFile(f.File)
	if err != nil {
		t.Fatal(err)
	}
	broken := []string{"", "abc", "form 1\n", string(whole[:len(whole)-1]), string(whole) + "x", strings.Repeat("\xff", 100)}
	for i := range whole { // each byte changed once
		flipped := append([]byte{}, whole...)
		flipped[i] ^= 0x10
		broken = append(broken, string(flipped))
	}
	for _, text := range broken {
		if err := os.WriteFile(f.File, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f.want(t, 2, "text of a.txt", "text of b.txt")
	}
	f.want(t, 0, "text of a.txt", "text of b.txt")
}

func TestStamp(t *testing.T) {
	changed := time.Unix(1_800_000_000, 5)
	for later, want := range map[time.Duration]int64{
		-time.Hour: 0, 0: 0, 999 * time.Millisecond: 0, time.Second: changed.UnixNano(), time.Hour: changed.UnixNano(),
	} {
		if got := keep.StampOf(changed, changed.Add(later)); got != want {
			t.Errorf("after %v: %d, want %d", later, got, want)
		}
	}
	f := newFolder(t, "a.txt")
	if keep.Stamp(f.Dir) == 0 {
		t.Error("a folder is quiet, and does not count as such")
	}
}
