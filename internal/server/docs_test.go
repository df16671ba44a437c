package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reference names every route with its right, in the order of the table.
func TestReferenceHasEveryRoute(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, r := range routes {
		served = append(served, fmt.Sprintf("| `%s` | `%s` | %s |", r.Method, r.Path, r.Need))
	}
	var written []string
	for line := range strings.Lines(string(page)) {
		if strings.Contains(line, "` | `/v1/") {
			written = append(written, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(written, served); diff != "" {
		t.Errorf("docs/reference/api.md (-) and routes.go (+) differ:\n%s", diff)
	}
}

// The reference names every word that a problem can have.
func TestReferenceHasEveryProblem(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`(?:http\.Status\w+|statusGone), "([a-z-]+)"`)
	var words []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range word.FindAllStringSubmatch(string(source), -1) {
			words = append(words, m[1])
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) < 30 {
		t.Fatalf("only %d words were found in the source: %v", len(words), words)
	}
	for _, w := range words {
		if w == "token-" {
			w = "token-..."
		}
		if !strings.Contains(string(page), "`"+w+"`") {
			t.Errorf("docs/reference/api.md does not name the problem %q", w)
		}
	}
}
