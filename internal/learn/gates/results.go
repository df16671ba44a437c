package gates

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// times sets what was measured against the reference: the implementation that the session names, or
// else the beginning of the session.
func (l *learner) times() {
	n := l.Numbers
	l.Texts["reference"] = cmp.Or(name(l.session.Reference), "the beginning")
	n["measurements"] = float64(len(l.measurements))
	if l.session.Target > 0 {
		n["target"] = l.session.Target
	}
	seen := l.cases()
	configs := l.now.Configs
	if len(configs) == 0 {
		configs = seen
	}
	n["configs"], n["configs_measured"] = float64(len(configs)), 0
	if len(configs) > 0 {
		l.Texts["smallest"], l.Texts["largest"] = name(configs[0]), name(configs[len(configs)-1])
		l.set("smallest_measured", slices.Contains(seen, configs[0]))
	}
	if len(l.measurements) == 0 {
		return
	}
	last := l.measurements[len(l.measurements)-1]
	l.set("reference_measured", l.session.Reference == "")
	for _, m := range l.measurements {
		for _, c := range m.Measured.Cases {
			r := l.reference(c)
			if l.session.Reference != "" && c.Reference > 0 {
				l.set("reference_measured", true)
			}
			if len(configs) > 0 && c.Case == configs[0] && r > 0 && c.Candidate > 0 {
				n["smallest_speedup"], n["reference_ns"] = r/c.Candidate, r
			}
		}
	}
	if x := l.session.Speedup(last.Measured); x > 0 {
		n["speedup"] = x
	}
	l.slopes(last)
	if t, r, m := n["target"], n["reference_ns"], n["minimum_ns"]; t > 0 && r > 0 && m > 0 {
		n["target_minimums"] = r / t / m
	}
	n["configs_measured"] = float64(l.sameSource(last))
}

// cases returns those that were measured, from the smallest to the largest.
func (l *learner) cases() []string {
	work := map[string]float64{}
	for _, m := range l.measurements {
		for _, c := range m.Measured.Cases {
			work[c.Case] = max(work[c.Case], c.Work)
		}
	}
	var all []string
	for c := range work {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(work[a], work[b]), strings.Compare(a, b)) })
	return all
}

func (l *learner) reference(c journal.MeasuredCase) float64 {
	if l.session.Reference != "" {
		return c.Reference
	}
	return l.begin[c.Case]
}

// slopes sets how the speedup of the last measurement changes with the size.
func (l *learner) slopes(last *journal.Did) {
	var size, speed []float64
	grids := map[string][2][]float64{} // by everything but heads and batch
	for _, c := range last.Measured.Cases {
		r := l.reference(c)
		if r <= 0 || c.Candidate <= 0 {
			continue
		}
		s := math.Log(r / c.Candidate)
		speed, size = append(speed, s), append(size, math.Log(max(c.Work, 1)))
		if rest, grid := grid(c.Case); grid > 0 {
			g := grids[rest]
			grids[rest] = [2][]float64{append(g[0], math.Log(grid)), append(g[1], s)}
		}
	}
	if b, ok := slope(size, speed); ok {
		l.Numbers["speedup_slope"] = b
	} else if len(speed) > 0 && len(speed) >= int(l.Numbers["configs"]) {
		l.Numbers["speedup_slope"] = 0 // all of one size, or of unknown sizes
	}
	for _, g := range grids {
		if b, ok := slope(g[0], g[1]); ok {
			if worst, known := l.Numbers["concurrency_slope"]; !known || b < worst {
				l.Numbers["concurrency_slope"] = b
			}
		}
	}
}

// slope returns that of a line through points; false if all have the same x.
func slope(x, y []float64) (float64, bool) {
	var mx, my, xx, xy float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if len(x) < 2 || xx < 1e-9 {
		return 0, false
	}
	return xy / xx, true
}

// grid splits the name of a case such as attention/B32_H8_S512 into the product of heads and batch,
// and the rest; 0 if it names neither.
func grid(c string) (rest string, size float64) {
	size = 1
	found := false
	for part := range strings.SplitSeq(c[strings.LastIndexByte(c, '/')+1:], "_") {
		letters := strings.TrimRight(part, "0123456789")
		n, err := strconv.ParseFloat(part[len(letters):], 64)
		switch strings.ToLower(letters) {
		case "b", "batch", "h", "heads":
			if err == nil && n > 0 {
				found = true
				size *= n
				continue
			}
		}
		rest += "_" + part
	}
	if !found {
		return "", 0
	}
	return rest, size
}

// sameSource counts the configs that were measured with the source of the last measurement.
func (l *learner) sameSource(last *journal.Did) int {
	seen := map[string]bool{}
	for _, m := range l.measurements {
		if m != last && (m.Source == "" || m.Source != last.Source) {
			continue
		}
		for _, c := range m.Measured.Cases {
			if c.Candidate > 0 {
				seen[c.Case] = true
			}
		}
	}
	return len(seen)
}
