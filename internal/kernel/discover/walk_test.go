package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const harnessC = "#include \"pawl.h\"\nint main(int argc, char **argv) { return pawl_main(argc, argv, b, 1); }\n"

func sources(t *testing.T, s Survey) []string {
	t.Helper()
	var list []string
	for _, x := range s.Sightings {
		list = append(list, x.Source)
	}
	return list
}

// A name ends up in a command that a shell runs.
func TestNamesThatAShellWouldUnderstandAreNotLookedAt(t *testing.T) {
	fsys := fstest.MapFS{"harness.c": {Data: []byte(harnessC)}}
	for _, name := range []string{
		"a;b.c", "a b.c", "$(id).c", "`id`.c", "a'b.c", `a"b.c`, "a&b.c", "a|b.c", "a>b.c", "a\nb.c", "-o.c", "x/-rf/a.c", "a*b.c", "~a.c", `a\b.c`, "é.c",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(harnessC)}
	}
	s, err := Scan(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := sources(t, s); !slices.Equal(got, []string{"harness.c"}) {
		t.Errorf("looked at %q", got)
	}
	if !strings.Contains(s.Explain(), "note: skipped because a shell could misread their names: 16\n") {
		t.Errorf("it is not said that names were left out:\n%s", s.Explain())
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	for name, seen := range map[string]bool{
		"harness.c":                       true,
		"a/b/c/d/e/f/g/h/harness.c":       true,
		"a/b/c/d/e/f/g/h/i/j/harness.c":   false, // too deep
		".hidden/harness.c":               false,
		"build/harness.c":                 false,
		"cmake-build-debug/harness.c":     false,
		"third_party/sdk/harness.c":       false,
		"testdata/harness.c":              false,
		"node_modules/x/harness.c":        false,
		"builder/harness.c":               true,
		"harness.txt":                     false,
		"python/test_pawl.py/harness.cpp": true,
	} {
		s, err := Scan(fstest.MapFS{name: {Data: []byte(harnessC)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Sightings) > 0; got != seen {
			t.Errorf("%s: seen is %t, want %t", name, got, seen)
		}
	}
	for _, marker := range []string{"sub/.git", "sub/pawl.yaml"} {
		s, err := Scan(fstest.MapFS{"sub/x/harness.c": {Data: []byte(harnessC)}, marker: {}})
		if err != nil || len(s.Sightings) > 0 {
			t.Errorf("a folder with %s is looked into: %v, %v", marker, sources(t, s), err)
		}
	}
}

// A repository may be of any size.
func TestLookingIsBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range maxEntries + 10 {
		fsys[fmt.Sprintf("z/%05d.c", i)] = &fstest.MapFile{}
	}
	fsys["harness.c"] = &fstest.MapFile{Data: append([]byte(harnessC), make([]byte, 10)...)}
	fsys["bench.c"] = &fstest.MapFile{Data: []byte(harnessC + strings.Repeat(" ", 2*maxFileSize))}
	s, err := Scan(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := sources(t, s); !slices.Equal(got, []string{"bench.c"}) {
		t.Errorf("saw %q, want bench.c only: the other is not text", got)
	}
	if !strings.Contains(s.Explain(), "only the first 20000 files and folders were searched") {
		t.Errorf("it is not said that files were left out:\n%s", s.Explain())
	}
	many := fstest.MapFS{}
	for i := range 3 * maxFindings {
		many[fmt.Sprintf("h%03d.c", i)] = &fstest.MapFile{Data: []byte(harnessC)}
	}
	if s, err = Scan(many); err != nil || len(s.Sightings) != maxFindings {
		t.Errorf("%d sightings, %v", len(s.Sightings), err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "harness.c"), []byte(harnessC), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"harness.c": filepath.Join(outside, "harness.c"), "out-side": outside, "loop": "."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := Scan(root.FS())
	if err != nil || len(s.Sightings) > 0 {
		t.Errorf("saw %v, %v", sources(t, s), err)
	}
}

func TestChoose(t *testing.T) {
	s, err := Scan(fstest.MapFS{
		"a.c": {Data: []byte(harnessC)}, "b.c": {Data: []byte(harnessC)},
		"x_test.go": {Data: []byte("func BenchmarkX(b *testing.B) {}")},
		"y_test.go": {Data: []byte("func BenchmarkY(b *testing.B) {}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ source, want, err string }{
		{"", "", "there are 2 things to measure: a.c, b.c"},
		{"b.c", "b.c", ""},
		{"y_test.go", "x_test.go", ""}, // two files of one thing
		{"c.c", "", "nothing to measure was recognized in c.c"},
	} {
		got, err := s.Choose(tt.source, nil)
		if got.Source != tt.want || err == nil && tt.err != "" || err != nil && err.Error() != tt.err {
			t.Errorf("Choose(%q) is %q, %v; want %q, %q", tt.source, got.Source, err, tt.want, tt.err)
		}
	}
}
