package trend

import (
	"math"
	"slices"
)

// State holds what is remembered of a series between two scans, besides its points. The zero State is empty.
type State struct {
	Version   int      `json:"version"`
	Points    int      `json:"points"` // number of points processed
	Values    int      `json:"values"` // those of them that were not skipped
	Outliers  int      `json:"outliers,omitempty"`
	TwoSpeeds bool     `json:"two_speeds,omitempty"`
	Start     int      `json:"start"`            // first value of the open part: after the last change
	Sloped    bool     `json:"sloped,omitempty"` // the open part is a drift
	Changes   []Change `json:"changes,omitempty"`
	Pool      pool     `json:"pool"` // residuals of the closed parts
}

// Change is an event, located by indexes of values. The last one is completed by the open part.
type Change struct {
	Kind   Kind    `json:"kind"`
	First  int     `json:"first"`
	Last   int     `json:"last"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	P      float64 `json:"p"`
}

// Find finds the changes in a series, given as its points in commit order. Points that are not above zero
// are skipped. A State from an earlier scan of the start of the same series saves
// most of the work and does not change the result. A State that does not fit is ignored. If points were
// inserted or removed, pass the zero State.
func Find(points []float64, s Settings, st State) (Result, State) {
	w, y, at := resume(points, st)
	for w.Values < len(y) {
		w.look(y[:w.Values+1])
	}
	w.Version, w.Points = Version, len(points)
	return w.result(at, s), w.State
}

// resume returns a watch that has seen what a state has seen, with the logarithms of all values and their
// indexes in points.
func resume(points []float64, st State) (w *watch, y []float64, at []int) {
	at = make([]int, 0, len(points))
	seen := 0
	for i, v := range points {
		if v > 0 && !math.IsInf(v, 0) {
			at = append(at, i)
			if i < st.Points {
				seen++
			}
		}
	}
	if !st.fits(len(points), seen) {
		st = State{}
	}
	y = make([]float64, len(at))
	w = &watch{State: st, clean: make([]float64, len(at))}
	w.Changes = slices.Clone(st.Changes) // the caller keeps its own
	back := max(0, w.Values-maxBack)
	for i := max(0, back-16); i < len(at); i++ {
		y[i] = math.Log(points[at[i]])
	}
	for i := back; i < w.Values; i++ {
		w.clean[i], _ = cleaned(y[:w.Values], i)
	}
	return w, y, at
}

// fits reports whether a state can belong to a series of n points, with seen values among those processed.
func (st State) fits(n, seen int) bool {
	if st.Version != Version || st.Points < 0 || st.Points > n || st.Values != seen || st.Start < 0 || st.Start > seen {
		return false
	}
	last := 0
	for _, c := range st.Changes {
		if c.First < last || c.First >= seen || c.Last < c.First || c.Last >= seen {
			return false
		}
		last = c.First
	}
	return true
}

// result returns what is known of the series so far.
func (w *watch) result(at []int, s Settings) Result {
	r := Result{TwoSpeeds: w.TwoSpeeds, Passed: w.Points - w.Values, Outliers: w.Outliers}
	r.Noise = noise(w.clean[max(0, w.Values-256):])
	r.Events = w.events(at, s)
	r.TwoSpeeds = r.TwoSpeeds || !w.Sloped && w.gathers()
	return r
}

// events returns the changes so far, the last one completed by the open part.
func (w *watch) events(at []int, s Settings) (list []Event) {
	for i, c := range w.Changes {
		if i == len(w.Changes)-1 && w.Start == c.First {
			c = w.current(w.open())
		}
		switch {
		case i+1 < len(w.Changes) && (c.Kind == Step || c.Last >= w.Changes[i+1].First):
			c.Last = max(c.First, w.Changes[i+1].First-1)
		case c.Kind == Step:
			c.Last = w.Values - 1
		}
		list = append(list, c.event(at, s))
	}
	return list
}

func (c Change) event(at []int, s Settings) Event {
	from, to := at[c.First], at[c.Last]
	if c.Kind == Step {
		from, to = at[c.First-1], at[c.First]
	}
	return Event{
		Kind: c.Kind, First: at[c.First], Last: at[c.Last], From: from, To: to,
		Before: c.Before, After: c.After, P: c.P, Worse: (c.After > c.Before) != s.Higher,
	}
}

// share returns the difference of two levels, as a fraction of the smaller.
func share(a, b float64) float64 { return max(a, b)/min(a, b) - 1 }
