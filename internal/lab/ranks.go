package lab

import "github.com/goatnote-inc/pawl/stats"

const significant = 0.05

// mannWhitney is the test on the samples of one run a side, as many scripts do it.
var mannWhitney = Method{
	Name: "Mann-Whitney",
	Rule: "p < 0.05 on the samples of one run a side",
	Ask: func(c Comparison) Outcome {
		return Outcome{byRank(samples(c, Base), samples(c, Candidate)), 1}
	},
}

// benchstatRounds is what benchstat asks for at least.
const benchstatRounds = 10

// benchstat has the same test, on one number a run. Its manual asks for ten runs a
// side, interleaved: it is given that, though most who use it run one side after the
// other.
var benchstat = Method{
	Name: "benchstat",
	Rule: "p < 0.05 on one number of each of 10 interleaved runs a side",
	Ask: func(c Comparison) Outcome {
		b, n := medians(c, Base, benchstatRounds), medians(c, Candidate, benchstatRounds)
		return Outcome{byRank(stats.Sort(b), stats.Sort(n)), len(n)}
	},
}

func byRank(base, candidate stats.Sorted) Answer {
	switch t := candidate.MannWhitney(base, stats.TwoSided); {
	case t.P >= significant:
		return Nothing
	case candidate.Cliff(base) > 0:
		return Slower
	default:
		return Faster
	}
}
