package tune

import (
	"maps"
	"math"
	"slices"
)

// division splits the variance of values over points into shares of single parameters and
// pairs.
type division struct {
	main   []float64          // by parameter
	effect [][]float64        // by parameter and value, around 0; NaN for a value without points
	pair   map[[2]int]float64 // by two parameters, the first below the second
}

func pairKey(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

const (
	backfits = 60
	maxCells = 1 << 14 // of a pair: more cells than points say nothing
)

// divide fits one effect per parameter, all jointly, and then fits pairs to the residuals.
// With all combinations present this is the textbook analysis of variance. If constraints
// forbid some, an effect gets no credit for what its neighbor causes.
func (t *table) divide(y []float64) division {
	d := division{main: make([]float64, len(t.levels)), effect: make([][]float64, len(t.levels)), pair: map[[2]int]float64{}}
	mean := 0.0
	for _, x := range y {
		mean += x / float64(len(y))
	}
	left := make([]float64, len(y))
	total := 0.0
	for i, x := range y {
		left[i] = x - mean
		total += left[i] * left[i]
	}
	for k, n := range t.levels {
		d.effect[k] = make([]float64, n)
	}
	if total <= 0 {
		return d
	}
	counts := t.counts()
	for range backfits {
		moved := 0.0
		for k, n := range t.levels {
			if n < 2 {
				continue
			}
			moved = max(moved, t.backfit(k, counts[k], left, d.effect[k]))
		}
		if moved < 1e-6*math.Sqrt(total/float64(len(y))) {
			break
		}
	}
	for k, n := range t.levels {
		if n < 2 {
			continue
		}
		for i, x := range y {
			d.main[k] += d.effect[k][t.row(i)[k]] * (x - mean) / total
		}
		d.main[k] = max(d.main[k], 0)
	}
	for a := range t.levels {
		for b := a + 1; b < len(t.levels); b++ {
			if t.levels[a] > 1 && t.levels[b] > 1 {
				d.pair[[2]int{a, b}] = t.together(a, b, left, total)
			}
		}
	}
	for k := range t.levels {
		for v, n := range counts[k] {
			if n == 0 {
				d.effect[k][v] = math.NaN()
			}
		}
	}
	return d
}

func (t *table) counts() [][]float64 {
	counts := make([][]float64, len(t.levels))
	for k, n := range t.levels {
		counts[k] = make([]float64, n)
	}
	for i := range t.n {
		for k, v := range t.row(i) {
			counts[k][v]++
		}
	}
	return counts
}

// backfit refits the effect of one parameter to the residuals without it and returns how
// far it moved.
func (t *table) backfit(k int, counts, left, effect []float64) (moved float64) {
	sums := make([]float64, len(effect))
	for i, x := range left {
		sums[t.row(i)[k]] += x
	}
	for v := range sums {
		if counts[v] > 0 {
			sums[v] /= counts[v]
			effect[v] += sums[v]
			moved = max(moved, math.Abs(sums[v]))
		}
	}
	for i := range left {
		left[i] -= sums[t.row(i)[k]]
	}
	return moved
}

// together returns the share of the residual variance that the combinations of two
// parameters explain. It subtracts what the same number of random groups would explain by
// chance.
func (t *table) together(a, b int, left []float64, total float64) float64 {
	width := t.levels[b]
	if t.levels[a]*width > maxCells {
		return 0
	}
	counts, sums := make([]float64, t.levels[a]*width), make([]float64, t.levels[a]*width)
	all := 0.0
	for i, x := range left {
		row := t.row(i)
		cell := int(row[a])*width + int(row[b])
		counts[cell]++
		sums[cell] += x
		all += x * x
	}
	explained, cells := 0.0, 0.0
	for c, n := range counts {
		if n > 0 {
			explained += sums[c] * sums[c] / n
			cells++
		}
	}
	free := cells - float64(t.levels[a]+t.levels[b]) + 1
	if free < 1 || float64(len(left)) <= cells {
		return 0
	}
	return max(0, explained-free*(all-explained)/(float64(len(left))-cells)) / total
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
