package mcp

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/mcp.md anew")

const (
	referencePage = "../../../docs/reference/mcp.md"
	listBegins    = "<!-- tools: written by go test ./internal/learn/mcp -update -->\n"
	listEnds      = "<!-- end of tools -->\n"
)

// The list of tools of the reference is that of the code.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), listBegins)
	_, after, ok2 := strings.Cut(rest, listEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has lost the marks of its list", referencePage)
	}
	want := before + listBegins + reference() + listEnds + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s tells of other tools than there are: go test ./internal/learn/mcp -run TestReference -update", referencePage)
	}
	if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func reference() string {
	var b strings.Builder
	for _, t := range Tools() {
		fmt.Fprintf(&b, "\n### %s\n%s\n\nRuns `pawl %s`.", t.Name, t.About, strings.Join(t.words, " "))
		switch {
		case t.spends != "":
			b.WriteString(" Spends device time; needs a session.")
		case !t.open:
			b.WriteString(" Needs a session.")
		}
		fmt.Fprintf(&b, " Ends after %s.\n", t.timeLimit())
		if len(t.fields) == 0 {
			continue
		}
		b.WriteString("\n| input | takes | meaning |\n| --- | --- | --- |\n")
		for _, f := range t.fields {
			name := "`" + f.name + "`"
			if f.must {
				name += " (needed)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, f.takes(), f.about)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// takes says in words what an input may be.
func (f field) takes() string {
	switch f.kind {
	case glob:
		return "a glob of cases"
	case ref:
		return "a name of one commit"
	case file:
		return "a file of the repository"
	case text:
		return fmt.Sprintf("text, up to %d bytes", maxText)
	case slug:
		return "a name"
	case params:
		return "parameters and numbers"
	case yes:
		return "true or false"
	case enum:
		return strings.Join(f.words, ", ")
	case number:
		return fmt.Sprintf("a whole number, %.0f to %.0f", f.least, f.most)
	default:
		return fmt.Sprintf("a number, %.0f to %.0f", f.least, f.most)
	}
}
