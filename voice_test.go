package pawl_test

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned are words that comments do without. The subject is a caller, a user, a client, a job or untrusted code, and a
// function reports, returns or records.
var banned = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|strangers?|tells whether|tells if|mends?)\b`)

func TestVoice_CommentsHaveNoBannedWords(t *testing.T) {
	exempt := []string{
		"internal/kernel/build/sandbox_workspace.go", // the user nobody
	}
	for _, path := range sources(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/learn/") || slices.Contains(exempt, path) {
			continue // the learning wing is rewritten with its own change
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Comments {
			for _, c := range g.List {
				if word := banned.FindString(c.Text); word != "" {
					t.Errorf("%s: a comment says %q: name the caller, user, client or job", fset.Position(c.Pos()), word)
				}
			}
		}
	}
}
