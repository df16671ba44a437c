package correctness

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// The reference page says what the code does.
func TestReferencePage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/correctness.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var rows []string
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.TF32, tensor.F16, tensor.BF16} {
		plain, naive := RulesFor(suite.Tolerance{}, d, false), RulesFor(suite.Tolerance{}, d, true)
		rows = append(rows, fmt.Sprintf("| `%s` | %.3g | %.3g | %.3g | %.3g |", d, plain.Close.Atol, plain.Close.Rtol, *naive.Flash, *naive.Cosine))
	}
	for _, d := range []tensor.DType{tensor.E4M3, tensor.E5M2, tensor.E4M3FNUZ, tensor.E5M2FNUZ, tensor.E3M2, tensor.E2M3, tensor.E2M1, tensor.E8M0} {
		r := RulesFor(suite.Tolerance{}, d, false)
		rows = append(rows, fmt.Sprintf("| `%s` | %.3g | %.3g | %.3g | %.3g |", d, r.Close.Atol, r.Close.Rtol, r.Close.Matched, *r.Cosine))
	}
	for _, kind := range Distributions() {
		rows = append(rows, fmt.Sprintf("\n| `%s` |", kind))
	}
	for _, rule := range []RuleName{RuleShape, RuleGaps, RuleUnwritten, RuleNaN, RuleInfinity, RuleClose, RuleFlash, RuleCosine, RuleDeterministic} {
		rows = append(rows, fmt.Sprintf("\n| `%s` |", rule))
	}
	rows = append(rows,
		fmt.Sprintf("At most %d evaluations and %.0f seconds", DefaultBudget.Evaluations, DefaultBudget.Time.Seconds()),
		fmt.Sprintf("At most %d files of a benchmark", maxFailures),
		fmt.Sprintf("more than %d GB is skipped", defaultMemory>>30),
	)
	for _, row := range rows {
		if !strings.Contains(page, row) {
			t.Errorf("docs/reference/correctness.md has no %q", row)
		}
	}
}
