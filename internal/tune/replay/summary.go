package replay

import "slices"

// Level holds what the repeats reached after a number of evaluations.
type Level struct {
	Evaluations int     `json:"evaluations"`
	Mean        float64 `json:"mean"`
	P10         float64 `json:"p10"` // 10 % of the repeats were worse
}

// Spread returns the mean of values, and the one below which 10 % of them are. It sorts the values.
func Spread(values []float64) (mean, p10 float64) {
	for _, x := range values {
		mean += x / float64(len(values))
	}
	if len(values) > 0 {
		slices.Sort(values)
		p10 = values[len(values)/10]
	}
	return mean, p10
}

// Summarize returns what the repeats reached, as fractions of the optimum.
func Summarize(traces []Trace, evaluations ...int) []Level {
	var list []Level
	for _, n := range evaluations {
		l := Level{Evaluations: n}
		reached := make([]float64, len(traces))
		for i, t := range traces {
			reached[i] = t.At(n)
		}
		l.Mean, l.P10 = Spread(reached)
		list = append(list, l)
	}
	return list
}
