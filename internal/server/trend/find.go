package trend

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// State holds what is remembered of a series between two scans, besides its points. The zero State is empty.
type State struct {
	Version  int            `json:"version"`
	Points   int            `json:"points"` // number of points processed
	Progress stats.Progress `json:"progress"`
}

// Find finds the changes in a series, given as its points in commit order. Points that are not above zero
// are skipped. A State from an earlier scan of the start of the same series saves
// most of the work and does not change the result. A State that does not fit is ignored. If points were
// inserted or removed, pass the zero State.
func Find(points []float64, s Settings, st State) (Result, State) {
	var f Result
	at := make([]int, 0, len(points)) // indexes of values in points
	values := make([]float64, 0, len(points))
	for i, v := range points {
		if v > 0 && !math.IsInf(v, 0) {
			at, values = append(at, i), append(values, v)
		}
	}
	f.Passed = len(points) - len(values)
	cleaned, outliers, final := clean(values)
	f.Outliers = outliers
	f.Noise = noise(cleaned)

	finder := stats.ChangeFinder{Window: cmp.Or(s.Window, 50), MaxP: maxP, MinMagnitude: least}
	settled, ok := (*stats.Incremental)(nil), false
	if st.Version == Version && st.Points <= len(points) {
		settled, ok = stats.ResumeIncremental(finder, slices.Clip(cleaned[:final]), st.Progress)
	}
	if !ok {
		settled, _ = stats.ResumeIncremental(finder, slices.Clip(cleaned[:final]), stats.Progress{})
	}
	next := State{Version: Version, Points: len(points), Progress: settled.Progress()}
	settled.Add(cleaned[final:]...)

	var steps []change
	for _, c := range settled.Points() {
		if c.Index >= minLevelPoints && len(cleaned)-c.Index >= minLevelPoints {
			steps = append(steps, change{first: c.Index, p: c.P})
		}
	}
	h := history{cleaned}
	steps, f.TwoSpeeds = h.withoutFlips(steps)
	steps = h.settled(steps)
	for _, c := range h.withDrifts(steps) {
		f.Events = append(f.Events, c.event(at, s))
	}
	if drifts := len(f.Events) > 0 && f.Events[len(f.Events)-1].Kind == Drift; !drifts {
		f.TwoSpeeds = f.TwoSpeeds || h.gathers(steps)
	}
	return f, next
}

// noise returns the roughness of the last values, as a fraction of the level.
func noise(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	values = values[max(0, len(values)-256):]
	steps := make([]float64, len(values)-1)
	for i := range steps {
		steps[i] = math.Abs(math.Log(values[i+1] / values[i]))
	}
	slices.Sort(steps)
	return 1.4826 / math.Sqrt2 * (steps[(len(steps)-1)/2] + steps[len(steps)/2]) / 2
}

// change is an event, located by indexes of values.
type change struct {
	kind          Kind
	first, last   int
	before, after float64
	p             float64
}

func (c change) event(at []int, s Settings) Event {
	from, to := at[c.first], at[c.last]
	if c.kind == Step {
		from, to = at[c.first-1], at[c.first]
	}
	return Event{
		Kind: c.kind, First: at[c.first], Last: at[c.last], From: from, To: to,
		Before: c.before, After: c.after, P: c.p, Worse: (c.after > c.before) != s.Higher,
	}
}
