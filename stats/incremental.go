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

// Progress is what has to be kept of an Incremental, beside the series, to go on
// later as if it had never stopped.
type Progress struct {
	Start      int   `json:"start"`
	Candidates []int `json:"candidates,omitempty"`
}

// Progress tells how far it is.
func (n *Incremental) Progress() Progress {
	return Progress{Start: n.start, Candidates: slices.Clone(n.candidates)}
}

// ResumeIncremental goes on with a series where another left off. The series begins
// with the values that one had. It is refused, with false, where it cannot be what that
// one left.
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
