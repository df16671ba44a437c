package workflow

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page has every rule, with the reason that the code gives.
func TestRulesStandInTheDocs(t *testing.T) {
	const path = "../../../docs/explanation/workflow-security.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, r := range rules {
		grave := "no"
		if r.grave {
			grave = "yes"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.name, grave, r.why)
	}
	if !strings.Contains(string(page), "| --- | --- | --- |\n"+table.String()+"\n") {
		t.Errorf("%s does not have the rules as they are:\n%s", path, table.String())
	}
	for _, name := range names {
		d, err := parse("pawl.yml", rendered(t, sample())[indexOf(name)].Text)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range d.jobs {
			row := "| " + strings.TrimPrefix(name, "pawl-") + " | "
			if !hasRow(string(page), row, j.id) {
				t.Errorf("%s does not tell what the job %s of %s may do", path, j.id, name)
			}
		}
	}
}

func indexOf(name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

func hasRow(page, begin, job string) bool {
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			cell, _, _ := strings.Cut(rest, " |")
			for id := range strings.SplitSeq(cell, ", ") {
				if id == job {
					return true
				}
			}
		}
	}
	return false
}
