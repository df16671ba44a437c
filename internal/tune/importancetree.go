package tune

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// table holds points as value ranks, one row each, and their results.
type table struct {
	n       int
	rows    []uint16
	levels  []int  // number of values by parameter
	ordered []bool // the values of the parameter have an order
	y       []float64
}

func newTable(s *space.Space) *table {
	t := &table{n: s.Len()}
	for _, p := range s.Parameters() {
		t.levels, t.ordered = append(t.levels, len(p.Values)), append(t.ordered, p.Ordered())
	}
	for i := range s.Len() {
		t.rows = append(t.rows, s.Point(i)...)
	}
	return t
}

func (t *table) row(i int) []uint16 {
	k := len(t.levels)
	return t.rows[i*k : i*k+k]
}

// tree is a regression tree. A node tests whether a value is at most a threshold, or, for
// unordered values, equal to it.
type tree struct{ nodes []node }

type node struct {
	parameter   int // -1 in a leaf
	at          uint16
	equal       bool
	left, right int32
	value       float64
}

func (t *tree) predict(row []uint16) float64 {
	n := t.nodes[0]
	for n.parameter >= 0 {
		if v := row[n.parameter]; v == n.at || !n.equal && v < n.at {
			n = t.nodes[n.left]
		} else {
			n = t.nodes[n.right]
		}
	}
	return n.value
}

const (
	minLeafRows  = 2 // min rows in a leaf
	maxDepth     = 5 // max depth: interactions of up to this many parameters can be learned
	trees        = 80
	learningRate = 0.1 // fraction of the residual that one tree fits: lower values average over more trees
)

// boost grows trees in sequence from some rows of the table, each on the residuals of those
// before it. The prediction is the sum of their outputs.
func boost(data *table, rows []int, rng *rand.Rand) []*tree {
	mean := 0.0
	for _, i := range rows {
		mean += data.y[i] / float64(len(rows))
	}
	list := []*tree{{nodes: []node{{parameter: -1, value: mean}}}}
	left := *data
	left.y = make([]float64, len(data.y))
	for i, y := range data.y {
		left.y[i] = y - mean
	}
	for range trees {
		g := grower{data: &left, rng: rng, tree: &tree{}}
		g.node(append([]int(nil), rows...), 0)
		for n := range g.tree.nodes {
			g.tree.nodes[n].value *= learningRate
		}
		for i := range left.y {
			left.y[i] -= g.tree.predict(data.row(i))
		}
		list = append(list, g.tree)
	}
	return list
}

type grower struct {
	data *table
	rng  *rand.Rand
	tree *tree
}

func (g *grower) node(rows []int, depth int) int32 {
	sum := 0.0
	for _, i := range rows {
		sum += g.data.y[i]
	}
	at := int32(len(g.tree.nodes))
	g.tree.nodes = append(g.tree.nodes, node{parameter: -1, value: sum / float64(len(rows))})
	if len(rows) < 2*minLeafRows || depth == maxDepth {
		return at
	}
	best := g.split(rows, sum)
	if best.parameter < 0 {
		return at
	}
	var left, right []int
	for _, i := range rows {
		if v := g.data.row(i)[best.parameter]; v == best.at || !best.equal && v < best.at {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	best.value = g.tree.nodes[at].value
	best.left = g.node(left, depth+1)
	best.right = g.node(right, depth+1)
	g.tree.nodes[at] = best
	return at
}

// split finds the best test among those on a random subset of parameters. Trees that differ
// in their first test have a better mean.
func (g *grower) split(rows []int, sum float64) node {
	best, gain := node{parameter: -1}, 1e-12
	n := float64(len(rows))
	for _, k := range g.rng.Perm(len(g.data.levels))[:max(1, (2*len(g.data.levels)+2)/3)] {
		levels := g.data.levels[k]
		if levels < 2 {
			continue
		}
		counts, sums := make([]float64, levels), make([]float64, levels)
		for _, i := range rows {
			v := g.data.row(i)[k]
			counts[v]++
			sums[v] += g.data.y[i]
		}
		c, s := 0.0, 0.0
		for v := range levels {
			if counts[v] == 0 {
				continue
			}
			if g.data.ordered[k] {
				c, s = c+counts[v], s+sums[v]
			} else {
				c, s = counts[v], sums[v]
			}
			if c < minLeafRows || n-c < minLeafRows {
				continue
			}
			if x := s*s/c + (sum-s)*(sum-s)/(n-c) - sum*sum/n; x > gain && !math.IsNaN(x) {
				best, gain = node{parameter: k, at: uint16(v), equal: !g.data.ordered[k]}, x
			}
		}
	}
	return best
}
