package stats

import "slices"

// Incremental finds change points in a growing series. Its result equals that of a ChangeFinder on the
// whole series. A full window never changes again, so a new value costs about one window, however long
// the series is. Only the final step, in Points, reads the whole series.
type Incremental struct {
	finder     ChangeFinder
	series     []float64
	start      int   // start of the first window that is not full
	candidates []int // candidates of the windows before it
}

// NewIncremental returns an Incremental with an empty series.
func NewIncremental(finder ChangeFinder) *Incremental {
	return &Incremental{finder: finder.withDefaults()}
}

// Add appends values to the series.
func (n *Incremental) Add(values ...float64) {
	n.series = append(n.series, values...)
	for n.start+n.finder.Window <= len(n.series) {
		var found []int
		found, n.start = n.finder.window(n.series, n.start)
		n.candidates = append(n.candidates, found...)
	}
}

// Points returns the change points of the series so far, in order.
func (n *Incremental) Points() []ChangePoint {
	candidates := slices.Clone(n.candidates)
	for start := n.start; start < len(n.series); {
		var found []int
		found, start = n.finder.window(n.series, start)
		candidates = append(candidates, found...)
	}
	return n.finder.confirm(n.series, candidates)
}
