package trend

import "math"

const (
	// maxP is the largest p-value of a change. A series is tested after every point, at every place. The lab
	// chose this value so that a series without a change is rarely reported (docs/lab/trend.md).
	maxP = 1e-6
	// minGain is the smallest gain, in variances of one value, for which a test is worth computing: no
	// correlation makes a smaller one significant.
	minGain = 16
	// maxBack is the number of values that are looked at.
	maxBack = 400
	// minStart is the number of values before the first step.
	minStart = 10
	// minDrift is the min number of values of a drift: fewer can show any direction by chance.
	minDrift = 30
	// minLead is how much more a step must explain than a drift, in units of twice the log-likelihood. Below,
	// more points decide.
	minLead = 6
	// settling is the number of values after which a step stays where it is.
	settling = 30
	// nearby is how far a step may move meanwhile.
	nearby = 5
)

// watch follows a history of logarithms point by point. It never takes a change back, except those that
// turn out to be a machine with two speeds, so that what was reported stays.
type watch struct {
	State
	clean []float64 // values without outliers; those more than maxBack before the end are not filled in
}

// look adds the last value of y and looks for a change.
func (w *watch) look(y []float64) {
	n := len(y)
	for i := max(0, n-reach-1); i < n; i++ {
		v, outlier := cleaned(y, i)
		w.clean[i] = v
		if outlier && i == n-reach-1 { // what the others are is not final
			w.Outliers++
		}
	}
	w.Values = n
	w.relocate()
	w.find()
}

// open returns the part that is not closed by a change.
func (w *watch) open() part {
	from := max(w.Start, w.Values-maxBack)
	return newPart(w.clean[from:w.Values], from, w.Sloped)
}

// find looks for a change in the open part.
func (w *watch) find() {
	if w.Values-w.Start < 2*minLevelPoints {
		return
	}
	p := w.open()
	step, bend := p.candidates()
	c, n := step, len(p.y)
	if bend.gain > step.gain {
		c = bend
	}
	before := minLevelPoints
	if len(w.Changes) == 0 {
		before = minStart
	}
	// Where points are often disturbed, four in a row may be, too.
	enough := minLevelPoints + 30*w.Outliers/w.Values
	switch after := n - c.at; {
	case !c.bend && (c.at < before || after < enough || math.Abs(c.size) < leastLog):
		return
	case c.bend && !p.sloped && (after < minDrift || math.Abs(c.size)*float64(after-1) < leastLog):
		return
	case c.bend && p.sloped && min(c.at, after) < minDrift/2:
		return
	}
	if q := w.Pool; c.gain*(q.N+float64(n)) < minGain*(q.SS+p.rss-c.gain) {
		return
	}
	value, unit := w.Pool.test(p, c)
	if value > maxP || !c.bend && c.gain-bend.gain < minLead*unit {
		return
	}
	if c.bend {
		w.turn(p, c, value)
	} else {
		w.step(p, c, value)
	}
}

// step closes the open part at a step.
func (w *watch) step(p part, c candidate, value float64) {
	first := p.from + c.at
	old := newPart(p.y[:c.at], p.from, p.sloped)
	level := newPart(p.y[c.at:], first, false).mean
	if w.flips(first, old.mean, level) {
		return
	}
	before := old.line(c.at - 1)
	w.close(old)
	w.Changes = append(w.Changes, Change{Kind: Step, First: first, Last: w.Values - 1, Before: math.Exp(before), After: math.Exp(level), P: value})
}

// turn closes the open part at a bend. A level bends into a drift; a drift ends.
func (w *watch) turn(p part, c candidate, value float64) {
	if p.sloped {
		w.close(newPart(p.y[:c.at+1], p.from, true))
		return
	}
	if c.at < minLevelPoints { // too short for a level before the drift
		c.at = 0
	}
	first := p.from + c.at
	if c.at > 0 {
		w.close(newPart(p.y[:c.at], p.from, false))
	} else if k := len(w.Changes) - 1; k >= 0 && w.Start == w.Changes[k].First {
		w.Changes[k].After = math.Exp(newPart(p.y, first, true).line(0))
	}
	w.Start, w.Sloped = first, true
	w.Changes = append(w.Changes, Change{Kind: Drift, First: first, P: value})
	w.Changes[len(w.Changes)-1] = w.current(w.open())
}

// close ends the open part with the values of p, and starts a level after it.
func (w *watch) close(p part) {
	if k := len(w.Changes) - 1; k >= 0 && w.Start == w.Changes[k].First {
		w.Changes[k] = w.current(p)
	}
	e := make([]float64, len(p.y))
	for i, v := range p.y {
		e[i] = v - p.line(i)
	}
	parameters := 1.0
	if p.sloped {
		parameters++
	}
	w.Pool = w.Pool.with(e, parameters).faded()
	w.Start, w.Sloped = p.from+len(p.y), false
}

// current returns the last change, completed by the part p that it began.
func (w *watch) current(p part) Change {
	c := w.Changes[len(w.Changes)-1]
	c.Last, c.After = p.from+len(p.y)-1, math.Exp(p.line(len(p.y)-1))
	if c.Kind == Drift && p.from == c.First {
		c.Before = math.Exp(p.line(0))
	}
	return c
}

// relocate moves the last step to where the values since then place it.
func (w *watch) relocate() {
	k := len(w.Changes) - 1
	if k < 0 || w.Changes[k].Kind != Step || w.Start != w.Changes[k].First || w.Values-w.Start > settling {
		return
	}
	lo, hi := max(minLevelPoints, w.Start-nearby), min(w.Start+nearby, w.Values-minLevelPoints)
	if k > 0 {
		lo = max(lo, min(w.Start, w.Changes[k-1].First+minLevelPoints))
	}
	before, after := math.Log(w.Changes[k].Before), medianOf(w.clean[w.Start:w.Values])
	cost := func(i int) float64 { // of counting value i to the old level instead of the new one
		was, is := w.clean[i]-before, w.clean[i]-after
		return was*was - is*is
	}
	best, lowest, sum := w.Start, 0.0, 0.0
	for i := w.Start; i < hi; i++ {
		if sum += cost(i); sum < lowest {
			best, lowest = i+1, sum
		}
	}
	sum = 0
	for i := w.Start - 1; i >= lo; i-- {
		if sum -= cost(i); sum < lowest {
			best, lowest = i, sum
		}
	}
	w.Changes[k].First, w.Start = best, best
}
