package tune

import (
	"maps"
	"math"
	"slices"
)

// division is values over points, divided into what parameters do alone and in pairs, as shares
// of their variance.
type division struct {
	main   []float64          // by parameter
	effect [][]float64        // by parameter and value, around 0; NaN for a value that no point has
	pair   map[[2]int]float64 // by two parameters, the first below the second
}

func pairKey(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

const (
	backfits  = 60
	mostCells = 1 << 14 // of a pair: with more than there are points, nothing can be told
)

// divide fits one effect a parameter, all together, and then looks in what is left for what
// pairs explain. Where all combinations are there this is the analysis of variance of the
// textbooks; where constraints forbid some, an effect is not credited with what its neighbour does.
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

// backfit moves the effect of one parameter to what is left without it; it tells how far.
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

// together is the share that the combinations of two parameters explain of what is left, less
// what as many groups of anything would explain by chance.
func (t *table) together(a, b int, left []float64, total float64) float64 {
	width := t.levels[b]
	if t.levels[a]*width > mostCells {
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
