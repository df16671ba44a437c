package replay

import "slices"

// Level holds what the repeats reached after a number of evaluations.
type Level struct {
	Evaluations int     `json:"evaluations"`
	Mean        float64 `json:"mean"`
	P10         float64 `json:"p10"` // 10 % of the repeats were worse
}

// Summarize returns what the repeats reached, as fractions of the optimum.
func Summarize(traces []Trace, evaluations ...int) []Level {
	var list []Level
	for _, n := range evaluations {
		l := Level{Evaluations: n}
		reached := make([]float64, len(traces))
		for i, t := range traces {
			reached[i] = t.At(n)
			l.Mean += reached[i] / float64(len(traces))
		}
		if len(reached) > 0 {
			slices.Sort(reached)
			l.P10 = reached[len(reached)/10]
		}
		list = append(list, l)
	}
	return list
}
