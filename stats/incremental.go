package stats

import "slices"

// Incremental finds change points in a series that grows. Its answer is that of a
// ChangeFinder on the whole series. A window that is full never changes again, so a
// new value costs about one window, however long the series is; only the last
// judgement looks at all of it.
type Incremental struct {
	finder     ChangeFinder
	series     []float64
	start      int   // of the first window that is not full
	candidates []int // of the windows before it
}

// NewIncremental starts with an empty series.
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
