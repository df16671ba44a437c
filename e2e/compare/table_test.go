package compare

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/stats"
)

const (
	decisionsFile = "../../docs/lab/compare.jsonl"
	page          = "../../docs/explanation/pawl-and-others.md"
)

// answer is what a rule says about the candidate.
type answer string

const (
	slower answer = "slower"
	faster answer = "faster"
	same   answer = "same"
	unsure answer = "unsure" // only pawl has this
)

// decision is a line of the file of decisions: a tool compared two builds once.
type decision struct {
	Machine string            `json:"machine"` // idle, or busy: loops use every core
	Try     int               `json:"try"`
	Slowed  bool              `json:"slowed,omitempty"` // the candidate does 5.9 % more work; otherwise it is the same code
	Tool    string            `json:"tool"`
	Seconds float64           `json:"seconds"`
	Answers map[string]answer `json:"answers"` // by rule
}

// table returns what the page shows of decisions: a row for each machine, tool and rule.
func table(decisions []decision) string {
	var b strings.Builder
	b.WriteString("| machine | tool | rule | same code: called slower | same code: called faster | 5.9 % more work: found | called faster | no answer | seconds |\n")
	b.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, machine := range []string{"idle", "busy"} {
		for _, tool := range tools {
			for _, rule := range tool.rules {
				if row := tableRow(decisions, machine, tool.name, rule); row != "" {
					b.WriteString(row)
				}
			}
		}
	}
	return b.String()
}

func tableRow(decisions []decision, machine, tool, rule string) string {
	tries, count, none := map[bool]int{}, map[bool]map[answer]int{false: {}, true: {}}, 0
	var seconds []float64
	for _, d := range decisions {
		if d.Machine != machine || d.Tool != tool {
			continue
		}
		tries[d.Slowed]++
		count[d.Slowed][d.Answers[rule]]++
		if d.Answers[rule] == unsure {
			none++
		}
		seconds = append(seconds, d.Seconds)
	}
	if len(seconds) == 0 {
		return ""
	}
	of := func(slowed bool, a answer) string { return fmt.Sprintf("%d of %d", count[slowed][a], tries[slowed]) }
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %d | %.1f |\n", machine, tool, rule,
		of(false, slower), of(false, faster), of(true, slower), of(true, faster), none, stats.Median(seconds))
}

func TestTable_CountsAnswersOfEachRule(t *testing.T) {
	rules := func(a, b answer) map[string]answer {
		return map[string]answer{hyperfineSpread: a, hyperfineMean: b}
	}
	got := table([]decision{
		{Machine: "idle", Tool: "hyperfine", Seconds: 5, Answers: rules(same, slower)},
		{Machine: "idle", Tool: "hyperfine", Slowed: true, Seconds: 7, Answers: rules(slower, faster)},
		{Machine: "busy", Tool: "pawl", Slowed: true, Seconds: 3, Answers: map[string]answer{pawlRule: unsure}},
	})
	for _, want := range []string{
		"| idle | hyperfine | " + hyperfineSpread + " | 0 of 1 | 0 of 1 | 1 of 1 | 0 of 1 | 0 | 6.0 |\n",
		"| idle | hyperfine | " + hyperfineMean + " | 1 of 1 | 0 of 1 | 0 of 1 | 1 of 1 | 0 | 6.0 |\n",
		"| busy | pawl | " + pawlRule + " | 0 of 0 | 0 of 0 | 0 of 1 | 0 of 1 | 1 | 3.0 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no row %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != 5 {
		t.Errorf("%d lines, want 5:\n%s", n, got)
	}
}

// The page shows what the decisions beside it say.
func TestPage_TableIsWhatTheDecisionsSay(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	decisions := testrun.Rows[decision](t, decisionsFile)
	for _, d := range decisions {
		i := slices.IndexFunc(tools, func(x tool) bool { return x.name == d.Tool })
		if i < 0 || len(d.Answers) != len(tools[i].rules) {
			t.Errorf("%+v: no such tool, or other rules", d)
		}
	}
	if want := table(decisions); !strings.Contains(string(text), want) {
		t.Errorf("%s does not have this table; make lab PAGE=compare writes it:\n%s", page, want)
	}
}
