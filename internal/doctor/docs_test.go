package doctor_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every finding with a name of its own stands in the reference, and no other does.
func TestEveryFindingIsInTheReference(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(b)
		}
	}
	used := map[string]bool{"virtual": true} // by way of a constant
	for _, m := range regexp.MustCompile(`\b(?:ok|note|warn|missing|warned)\("([^"]+)"`).FindAllStringSubmatch(code.String(), -1) {
		used[m[1]] = true
	}
	if len(used) < 20 {
		t.Fatalf("only %d findings were found in the source: %v", len(used), used)
	}
	told := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| [a-z]* ?\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		told[m[1]] = true
	}
	for name := range used {
		if !told[name] {
			t.Errorf("the reference does not tell of the finding %q", name)
		}
	}
	for name := range told {
		if !used[name] {
			t.Errorf("the reference tells of %q, which is no finding", name)
		}
	}
}
