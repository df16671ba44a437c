package diagnose

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func docsPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The reference has a line for each class, rule and quantity, and no other ones.
func TestReferenceListsWhatThereIs(t *testing.T) {
	rs := Rules()
	var classes, rules, names []string
	for _, b := range rs.tree.classes {
		classes = append(classes, fmt.Sprintf("| %s | %s |", b.class, alternatives(b.when)))
	}
	for _, r := range rs.All() {
		rules = append(rules, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", r.ID, r.Class, alternatives(r.when), strings.Join(r.Explains, ", "), strings.Join(unique(toolIDs(r)), ", ")))
	}
	for _, q := range Derived() {
		names = append(names, fmt.Sprintf("| `%s` | %s | %s |", q.Name, q.Unit, q.About))
	}
	page := docsPage(t, "reference/rules.md")
	for title, rows := range map[string][]string{"The tree": classes, "The rules": rules, "Quantities": names} {
		_, part, found := strings.Cut(page, "\n## "+title+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		if !found {
			t.Fatalf("docs/reference/rules.md has no part %q", title)
		}
		var got []string
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, "| ") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if got := strings.Join(got[min(2, len(got)):], "\n"); got != strings.Join(rows, "\n") {
			t.Errorf("docs/reference/rules.md: %s: want\n%s", title, strings.Join(rows, "\n"))
		}
	}
}

// alternatives are the expressions of a formula, for a cell of a table.
func alternatives(f formula) string {
	var list []string
	for _, e := range f {
		list = append(list, "`"+e.String()+"`")
	}
	return strings.Join(list, ", or ")
}

func unique(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// The rule that the how-to shows is one.
func TestHowToShowsARule(t *testing.T) {
	_, text, _ := strings.Cut(docsPage(t, "how-to/own-rules.md"), "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("docs/how-to/own-rules.md shows no rule")
	}
	rs := Rules()
	if err := rs.Add("own-rules.md", []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := rs.Test(); err != nil {
		t.Error(err)
	}
}

// toolIDs lists the IDs of the tool's own rules that correspond to a rule.
func toolIDs(r *Rule) []string {
	var ids []string
	for _, t := range r.tool {
		ids = append(ids, t.id)
	}
	return ids
}
