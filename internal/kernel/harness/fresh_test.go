package harness

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An old result must not be taken for a new one, and nothing else may go.
func TestFresh(t *testing.T) {
	before := []string{
		"out.json", "src/main.rs", "target/criterion/fib/base/sample.json",
		"target/criterion/fib/new/benchmark.json", "target/criterion/fib/new/sample.json",
	}
	for _, tt := range []struct {
		output  string
		removed []string
	}{
		{"out.json", []string{"out.json"}},
		{"never.json", nil},
		{"target/criterion", []string{"target/criterion/fib/new/sample.json"}},
		{"src", nil},
		{".", []string{"target/criterion/fib/new/sample.json"}},
	} {
		t.Run(tt.output, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range before {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := RemoveStaleResult(dir, tt.output); err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(slices.Clone(before), func(f string) bool { return slices.Contains(tt.removed, f) })
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
	if err := RemoveStaleResult(t.TempDir(), "../elsewhere"); err == nil {
		t.Error("a result outside the folder is not refused")
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
