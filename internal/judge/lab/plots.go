package lab

import (
	"cmp"
	"fmt"
	"slices"
)

// Plots returns the two charts of the page: what methods answer depending on the true slowdown, and how
// many rounds pawl needs for it.
func (r *Report) Plots() []Plot {
	found := Plot{
		Name: "judge-error", Title: fmt.Sprintf("How often each method says regression (between rounds %s, Gaussian)", percent(typical)),
		X: "true slowdown, %", Y: "says regression, % of comparisons", Right: 10, Top: 100,
		YTicks: []float64{0, 20, 40, 60, 80, 100}, Mark: 3, Note: "pawl's limit",
	}
	for i, m := range r.Methods {
		line := r.line(m.Name, typical, func(row Row) float64 { return 100 * float64(row.Regression) / float64(row.Trials) })
		line.Name, line.Strong = m.Name, i == 0
		found.Lines = append(found.Lines, line)
	}
	cost := Plot{
		Name: "judge-rounds", Title: "How many rounds a side pawl takes (Gaussian)",
		X: "true slowdown, %", Y: "rounds a side, mean", Right: 10, Top: 32,
		YTicks: []float64{0, 4, 8, 16, 24, 32}, Mark: 3, Note: "the limit: hardest to tell",
	}
	for _, spread := range Spreads {
		line := r.line("pawl", spread, Row.meanRounds)
		line.Name, line.Strong = fmt.Sprintf("spread %s between rounds", percent(spread)), spread == typical
		cost.Lines = append(cost.Lines, line)
	}
	return []Plot{found, cost}
}

func (r Row) meanRounds() float64 { return r.MeanRounds() }

// line returns a method's rows on the Gaussian machine, starting at no slowdown.
func (r *Report) line(method string, spread float64, value func(Row) float64) Line {
	var l Line
	for _, row := range r.Rows {
		if row.Corpus == Generated && row.Method == method && row.Shape == Gaussian && row.Spread == spread && row.Effect >= 0 {
			l.Points = append(l.Points, [2]float64{100 * row.Effect, value(row)})
		}
	}
	slices.SortFunc(l.Points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return l
}
