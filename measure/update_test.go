package measure_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

var writeV1 = flag.Bool("write-v1", false, "write testdata/v1 where a file is missing; never replaces one")

// TestWriteV1 made the pinned files. It stays to show how, and writes only
// what is missing: a pinned file is never changed.
func TestWriteV1(t *testing.T) {
	if !*writeV1 {
		t.Skip("only with -write-v1")
	}
	must(t, os.MkdirAll("testdata/v1", 0o755))
	missing := func(name string) bool {
		_, err := os.Stat(filepath.Join("testdata/v1", name))
		return err != nil
	}
	for _, name := range []string{"run.json", "run.json.zst"} {
		if missing(name) {
			must(t, measure.Save(filepath.Join("testdata/v1", name), example()))
		}
	}
	if missing("run.journal") {
		writeJournal(t, "testdata/v1/run.journal", example(), true)
	}
}
