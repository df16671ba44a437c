package pawl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned are words that comments, messages and help do without. The subject is a caller, a user, a client, a job or
// untrusted code, and a function reports, returns or records.
var banned = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|strangers?|tells whether|tells if|mends?|mended)\b`)

func TestVoice_NoBannedWords(t *testing.T) {
	exempt := []string{
		"internal/kernel/build/sandbox_workspace.go", // names the user nobody
		"internal/server/pgtemp/pgtemp.go",           // likewise
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
		check := func(at token.Pos, text string) {
			if word := banned.FindString(text); word != "" {
				t.Errorf("%s: %q: name the caller, user, client or job", fset.Position(at), word)
			}
		}
		for _, g := range f.Comments {
			for _, c := range g.List {
				check(c.Pos(), c.Text)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				check(lit.Pos(), lit.Value)
			}
			return true
		})
	}
}
