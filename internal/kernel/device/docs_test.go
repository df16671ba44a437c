package device

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every notice a user may see is explained in the reference.
func TestNoticesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/devices.md")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`Code: +"([a-z_]+)"`)
	found := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			found++
			if !strings.Contains(string(page), "`"+m[1]+"`") {
				t.Errorf("%s: the notice %q is not in docs/reference/devices.md", name, m[1])
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d notices found: the test looks for the wrong thing", found)
	}
}
