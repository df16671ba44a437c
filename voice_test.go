package pawl_test

import (
	"go/parser"
	"go/token"
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
		"internal/learn/", // rewritten with its own change
		"internal/kernel/build/sandbox_workspace.go", // names the user nobody
	}
	for _, path := range sources(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(exempt, func(e string) bool { return strings.HasPrefix(path, e) }) {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
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
