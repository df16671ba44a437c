package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// question is what a reader asks in the morning, and the way from the overview to its answer.
type question struct {
	Text  string     `json:"text"`
	Steps [][]string `json:"steps"` // "click" and a selector, or "type", a selector and a text
	Shown string     `json:"shown"` // a selector of the answer
}

func questions(commits [2]string) []question {
	click := func(selector string) []string { return []string{"click", selector} }
	menu := func(name string) []string { return click(`#nav a.nav:has-text("` + name + `")`) }
	details := click(`ol.moved > li:not(:has(.badge.machine)) a.button`)
	return []question{
		{"What changed?", nil, `ol.moved > li .delta`},
		{"Can I trust the machines today?", nil, `section[aria-labelledby=beds] .badge`},
		{"What needs an answer from me?", [][]string{menu("Events")}, `ol.moved > li`},
		{"Which commit did it, and whose is it?", [][]string{details}, `.answers h2:has-text("Whose is it?")`},
		{"Is it the code or the machine?", [][]string{details}, `.answers h2:has-text("Code or machine?")`},
		{"Which case got worse the most?", [][]string{menu("Series"), click(`th a:has-text("Change")`)}, `th[aria-sort=descending] a:has-text("Change")`},
		{"Which series are too noisy to judge?", [][]string{menu("Series"), click(`th a:has-text("Noise")`)}, `th[aria-sort=descending] a:has-text("Noise")`},
		{"Is it slower on other hardware, too?", [][]string{click(`ol.moved > li:first-child a.name`), click(`a:has-text("on every testbed")`)}, `.legend-table tbody tr:nth-child(2)`},
		{"What did the last run say?", [][]string{click(`section[aria-labelledby=latest] tbody tr:first-child th a`)}, `main h1`},
		{"Do these two commits differ?", [][]string{menu("Compare"), {"type", "#commit-A", commits[0]}, {"type", "#commit-B", commits[1]}, click(`form.pick button`)}, `h1:has-text("B ")`},
	}
}

// The answers to the ten questions of the docs are at most two clicks from the overview. TestPages clicks them.
func TestMorningQuestions(t *testing.T) {
	doc, err := os.ReadFile("../../docs/how-to/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions([2]string{}) {
		clicks := 0
		for _, step := range q.Steps {
			if step[0] == "click" {
				clicks++
			}
		}
		if row := fmt.Sprintf("| %s | %d |", q.Text, clicks); clicks > 2 || !strings.Contains(string(doc), row) {
			t.Errorf("docs/how-to/dashboard.md does not have the row %s", row)
		}
	}
}

// answer looks for the answers, with two reports to compare.
func (s *site) answer(t *testing.T, before, after int64) {
	t.Helper()
	var commits [2]string
	for i, report := range []int64{before, after} {
		run, err := s.store.Run(t.Context(), s.project.ID, report)
		if err != nil {
			t.Fatal(err)
		}
		commits[i] = run.Commit[:12]
	}
	tell(t, browse(t, "questions.mjs", map[string]any{"url": s.url, "questions": questions(commits)}))
}
