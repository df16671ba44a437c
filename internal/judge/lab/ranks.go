package lab

import "github.com/goatnote-inc/pawl/stats"

const significant = 0.05

// mannWhitney tests the samples of one run per side, as many scripts do.
var mannWhitney = Method{
	Name: "Mann-Whitney",
	Rule: "p < 0.05 on the samples of one run a side",
	Ask: func(c Comparison) Outcome {
		return Outcome{byRank(samples(c, Base), samples(c, Candidate)), 1}
	},
}

// benchstatRounds is the minimum number of runs that benchstat asks for.
const benchstatRounds = 10

// benchstat applies the same test to one number per run. Its manual asks for ten interleaved runs per
// side. It gets them here, although most users run one side after the other.
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
