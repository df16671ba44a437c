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

// Progress is the state of an Incremental, apart from its series. Save both to resume later.
type Progress struct {
	Start      int   `json:"start"`
	Candidates []int `json:"candidates,omitempty"`
}

// Progress returns a copy of the current state.
func (n *Incremental) Progress() Progress {
	return Progress{Start: n.start, Candidates: slices.Clone(n.candidates)}
}

// ResumeIncremental returns an Incremental that continues from p. The series must start with the
// values of the Incremental that produced p, and may have more. It returns false if p cannot belong
// to the series.
func ResumeIncremental(finder ChangeFinder, series []float64, p Progress) (*Incremental, bool) {
	n := NewIncremental(finder)
	last := 0
	for _, at := range p.Candidates {
		if at <= last || at >= len(series) {
			return nil, false
		}
		last = at
	}
	if p.Start < last || p.Start > len(series) {
		return nil, false
	}
	n.start, n.candidates = p.Start, slices.Clone(p.Candidates)
	n.Add(series...)
	return n, true
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
