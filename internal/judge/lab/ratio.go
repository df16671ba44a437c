package lab

import (
	"fmt"

	"github.com/goatnote-inc/pawl/stats"
)

// alertRatio is the default of github-action-benchmark's alert-threshold: 200 %.
const alertRatio = 2.0

// actionBenchmark compares one number of this run with one of the previous run.
var actionBenchmark = Method{
	Name: "github-action-benchmark",
	Rule: "one number a run, alert at 200 %",
	Ask: func(c Comparison) Outcome {
		ratio := stats.Mean(samples(c, Candidate)) / stats.Mean(samples(c, Base))
		if ratio > alertRatio { // it never reports an improvement
			return Outcome{Slower, 1}
		}
		return Outcome{Nothing, 1}
	},
}

// threshold is the simplest rule: the median moved by at least 3 %.
func threshold(rounds int) Method {
	m := Method{Name: "3 % threshold", Rule: "the median of one run a side moved by 3 %"}
	if rounds > 1 {
		m.Name += fmt.Sprintf(", %d rounds", rounds)
		m.Rule = fmt.Sprintf("the median of the medians of %d interleaved runs moved by 3 %%", rounds)
	}
	m.Ask = func(c Comparison) Outcome {
		b, n := medians(c, Base, rounds), medians(c, Candidate, rounds)
		ratio := stats.Median(n) / stats.Median(b)
		switch {
		case ratio >= 1.03:
			return Outcome{Slower, len(n)}
		case ratio <= 1/1.03:
			return Outcome{Faster, len(n)}
		default:
			return Outcome{Nothing, len(n)}
		}
	}
	return m
}
