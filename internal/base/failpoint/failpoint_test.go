package failpoint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

var placed = regexp.MustCompile(`failpoint\.At\("([^"]+)"\)`)

// A name without a place would be a crash test that tests nothing; a place without a
// name is never tried.
func TestNamesAndPlacesAgree(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range placed.FindAllStringSubmatch(string(text), -1) {
			seen[m[1]] = true
			if !slices.Contains(failpoint.Names(), m[1]) {
				t.Errorf("%s: the place %q is not in failpoint.Names", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range failpoint.Names() {
		if !seen[name] {
			t.Errorf("%q stands nowhere in the code", name)
		}
	}
	names := failpoint.Names()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(failpoint.Names()) {
		t.Error("a name occurs twice")
	}
}
