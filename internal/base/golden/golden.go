// Package golden compares what people read with files that are kept. Only tests may import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

// Updating reports whether golden files are written.
func Updating() bool { return *update }

// Check compares a text with a file in testdata. With -update it writes the file.
func Check(t testing.TB, name, got string) {
	t.Helper()
	File(t, filepath.Join("testdata", filepath.FromSlash(name)), got)
}

// File compares a text with the file at path. With -update it writes the file.
func File(t testing.TB, path, got string) {
	t.Helper()
	if diff := cmp.Diff(Stored(t, path, got), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it:\n%s", path, diff)
	}
}

// Stored returns the content of the file at path. With -update it writes got first.
func Stored(t testing.TB, path, got string) string {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
