package trend

// shortestDrift is how many points a drift has at least: fewer show any direction.
const shortestDrift = 30

// withDrifts completes the steps with what lies between them, and tells drifts.
// Whoever looks for levels in a slow slope finds a staircase: where a line says the same
// with fewer words, it is one drift and no steps.
func (h history) withDrifts(steps []change) []change {
	parts := h.stretches(steps)
	var list []change
	for i := 0; i < len(parts); {
		j := h.staircase(parts, i)
		whole := stretch{parts[i].from, parts[j].to}
		if j == i || !h.sloped(whole, parts[i:j+1]) {
			whole, j = parts[i], i
		}
		if i > 0 { // the change from the part before
			c := steps[i-1]
			before, after := h.level(parts[i-1]), h.level(parts[i])
			if prev := len(list) - 1; prev >= 0 && list[prev].kind == Drift && list[prev].last == c.first-1 {
				before = list[prev].after
			}
			if j > i {
				after = h.line(whole).begin
			}
			if share(before, after) >= h.least {
				list = append(list, change{kind: Step, first: c.first, last: whole.to - 1, before: before, after: after, p: c.p})
			}
		}
		if d, ok := h.drift(whole); ok {
			list = append(list, d)
		}
		i = j + 1
	}
	return list
}

// staircase is the last of the parts from i on that all go the same way.
func (h history) staircase(parts []stretch, i int) int {
	j := i
	for up := false; j+1 < len(parts); j++ {
		rises := h.level(parts[j+1]) > h.level(parts[j])
		if j > i && rises != up {
			break
		}
		up = rises
	}
	return j
}

// sloped tells that a line describes the whole better than the levels of its parts.
func (h history) sloped(whole stretch, parts []stretch) bool {
	var levels float64
	for _, p := range parts {
		levels += h.line(p).flat
	}
	line := criterion(h.line(whole).residual, whole.n(), 2)
	return whole.n() >= shortestDrift && line < criterion(levels, whole.n(), float64(2*len(parts)-1))
}

// drift is that of a stretch without steps, where there is one. Ten in the criterion
// is what is called very strong.
func (h history) drift(s stretch) (change, bool) {
	f := h.line(s)
	if s.n() < shortestDrift || share(f.begin, f.end) < h.least || f.p > h.maxP {
		return change{}, false
	}
	if criterion(f.residual, s.n(), 2)+10 > criterion(f.flat, s.n(), 1) {
		return change{}, false
	}
	return change{kind: Drift, first: s.from, last: s.to - 1, before: f.begin, after: f.end, p: f.p}, true
}

// share is the change between two levels, as a part of the smaller.
func share(a, b float64) float64 { return max(a, b)/min(a, b) - 1 }
