package lesson

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The reference has a row for each lesson that pawl comes with, for each fact of a record
// and for each key, and its example can be read.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/lessons.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	list := slices.Clone(Starter())
	slices.SortFunc(list, func(a, b *Lesson) int {
		return cmp.Or(cmp.Compare(slices.Index(Classes(), a.Class), slices.Index(Classes(), b.Class)), cmp.Compare(a.Name, b.Name))
	})
	var lessons, facts []string
	for _, l := range list {
		lessons = append(lessons, fmt.Sprintf("| `%s` | %s | `%s` | %s |", l.Name, l.Class, l.Symptom, l.Title))
	}
	for _, f := range recordFacts {
		facts = append(facts, fmt.Sprintf("| `%s` | %s | %s |", f.Name, f.Unit, f.About))
	}
	for title, rows := range map[string][]string{"The starter set": lessons, "Facts": facts} {
		if got := rowsOf(page, title); got != strings.Join(rows, "\n") {
			t.Errorf("docs/reference/lessons.md: %s: want\n%s", title, strings.Join(rows, "\n"))
		}
	}
	_, example, _ := strings.Cut(page, "```markdown\n")
	example, _, _ = strings.Cut(example, "```")
	if _, err := Parse("docs/reference/lessons.md", []byte(example)); err != nil {
		t.Errorf("the example: %v", err)
	}
	_, review, _ := strings.Cut(page, "```json\n")
	review, _, _ = strings.Cut(review, "```")
	if _, err := ParseReview([]byte(review)); err != nil {
		t.Errorf("the example of a review: %v", err)
	}
}

// rowsOf are the rows of the table in a part of a page.
func rowsOf(page, title string) string {
	_, part, _ := strings.Cut(page, "\n## "+title+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var rows []string
	for line := range strings.Lines(part) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	return strings.Join(rows[min(2, len(rows)):], "\n")
}
