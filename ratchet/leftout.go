package ratchet

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// BelieveSkipped marks the cases that a run left out as identical. Only the run itself may call it, while it has both
// builds: a stored record can claim anything, so without this call a skipped case has no answer.
func BelieveSkipped(list []Evidence) {
	for i := range list {
		list[i].Identical = list[i].Identical || list[i].NoSamples && list[i].Unchanged == measure.Skipped
	}
}

// Differs reports whether a case that cannot have changed was measured and did change. Then the rule that says so is
// wrong.
func (j Judgment) Differs() bool {
	return j.Unchanged == measure.Sampled && slices.Contains([]Verdict{Regression, Improvement, Broken, Missing}, j.Verdict)
}

// LeftOut says which cases were not measured because they cannot have changed, and whether the measured sample of them
// confirms it; empty if there are none.
func (r *Result) LeftOut() string {
	all, skipped, doubtful, sampled, same := 0, 0, 0, 0, 0
	for _, c := range r.Cases {
		if c.Metric != "" && c.Metric != measure.MetricTime {
			continue
		}
		all++
		switch {
		case c.Verdict == Identical && c.Unchanged == measure.Skipped:
			skipped++
		case c.Unchanged == measure.Skipped:
			doubtful++
		case c.Unchanged == measure.Sampled:
			sampled++
			if c.Verdict == Maintained {
				same++
			}
		}
	}
	switch {
	case doubtful > 0:
		return fmt.Sprintf("%d of %s were not measured, and that they cannot have changed is not proved.", doubtful, words.Plural(all, "case"))
	case skipped == 0:
		return ""
	case same < sampled:
		return fmt.Sprintf("%s %d of these did not differ.", leftOutText(all, skipped, sampled), same)
	default:
		return leftOutText(all, skipped, sampled) + " None of these differed."
	}
}

func leftOutText(all, skipped, sampled int) string {
	return fmt.Sprintf("%d of %d cases cannot have changed: nothing that they execute or read differs from the base. %d were not measured; %d, chosen at random, were.",
		skipped+sampled, all, skipped, sampled)
}
