package gates

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// beyond is a number of times that stands for "nobody knows a bound".
const beyond = 1e12

// checks is what is known of the results.
func (l *learner) checks() {
	if len(l.checked) == 0 {
		return
	}
	c := l.checked[len(l.checked)-1].Checked
	n := l.numbers
	n["points"], n["failed_points"], n["max_difference"] = float64(c.Points), float64(c.Failed), c.Worst
	l.set("smallest_correct", c.SmallestOK)
	l.set("not_finite", c.NotFinite)
	if c.Tiles > 0 && c.Failed > 0 {
		n["first_bad_tiles"] = c.Tiles
	}
	l.texts["smallest_checked"] = cmp.Or(name(c.Smallest), "The smallest config")
	if c.Failed == 0 {
		return
	}
	l.texts["first_bad"] = name(c.FirstBad)
	l.texts["replay"] = replay(c.Replay)
	switch {
	case c.NotFinite:
		l.texts["difference_words"] = "NaN or infinity among the results; accumulate in FP32"
	case c.Worst >= 0.1:
		l.texts["difference_words"] = fmt.Sprintf("off by up to %s, which is wrong and not imprecise", short(c.Worst))
	case c.Worst > 0:
		l.texts["difference_words"] = fmt.Sprintf("off by up to %s", short(c.Worst))
	}
}

// replay lets a command through that pawl itself wrote, and nothing that a shell would read
// as more than one.
func replay(command string) string {
	if !strings.HasPrefix(command, "pawl fuzz ") || len(command) > 400 {
		return ""
	}
	if strings.ContainsFunc(command, func(r rune) bool { return r != ' ' && !plainRune(r) }) {
		return ""
	}
	return command
}

// times is what was measured against the reference: what the suite calls so, or the base,
// or, where there is neither, the first measurement of the session.
func (l *learner) times() {
	l.texts["reference"] = cmp.Or(name(l.session.Reference), "the state at the beginning")
	n := l.numbers
	n["measurements"] = float64(len(l.measurements))
	n["target_minimums"] = beyond
	if l.session.Target > 0 {
		n["target"] = l.session.Target
	}
	seen := l.cases()
	configs := l.now.Configs
	if len(configs) == 0 {
		configs = seen
	}
	n["configs"] = float64(len(configs))
	if len(configs) > 0 {
		l.texts["smallest"], l.texts["largest"] = name(configs[0]), name(configs[len(configs)-1])
		l.texts["profile_case"] = l.texts["smallest"]
		l.set("smallest_measured", slices.Contains(seen, configs[0]))
	}
	if len(l.measurements) == 0 {
		return
	}
	last := l.measurements[len(l.measurements)-1]
	first := l.firstTimes()
	l.set("reference_measured", l.session.Reference == "")
	for _, m := range l.measurements {
		for _, c := range m.Measured.Cases {
			r := l.reference(c, first)
			if l.session.Reference != "" && c.Reference > 0 {
				l.set("reference_measured", true)
			}
			if len(configs) > 0 && c.Case == configs[0] && r > 0 && c.Candidate > 0 {
				n["smallest_speedup"], n["reference_ns"] = r/c.Candidate, r
			}
		}
	}
	if s, ok := n["smallest_speedup"]; ok && s < 0.1 {
		l.texts["speed_words"] = "below 0.1x there is a fundamental mistake"
	}
	l.slopes(last, first)
	if t, r, m := n["target"], n["reference_ns"], n["minimum_ns"]; t > 0 && r > 0 && m > 0 {
		n["target_minimums"] = r / t / m
	}
	n["configs_measured"] = float64(l.sameSource(last))
}

// cases are those that were measured, from the smallest to the largest.
func (l *learner) cases() []string {
	work := map[string]float64{}
	for _, m := range l.measurements {
		for _, c := range m.Measured.Cases {
			work[c.Case] = max(work[c.Case], c.Work)
		}
	}
	all := make([]string, 0, len(work))
	for c := range work {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(work[a], work[b]), strings.Compare(a, b)) })
	return all
}

// firstTimes are the first of the candidate, by case.
func (l *learner) firstTimes() map[string]float64 {
	first := map[string]float64{}
	for _, m := range l.measurements {
		for _, c := range m.Measured.Cases {
			if _, there := first[c.Case]; !there && c.Candidate > 0 {
				first[c.Case] = c.Candidate
			}
		}
	}
	return first
}

func (l *learner) reference(c journal.MeasuredCase, first map[string]float64) float64 {
	if l.session.Reference != "" {
		return c.Reference
	}
	return cmp.Or(c.Base, first[c.Case])
}

// slopes is how the speed-up of the last measurement goes with the size.
func (l *learner) slopes(last *journal.Did, first map[string]float64) {
	var size, speed []float64
	grids := map[string][2][]float64{} // by everything but heads and batch
	sum := 0.0
	for _, c := range last.Measured.Cases {
		r := l.reference(c, first)
		if r <= 0 || c.Candidate <= 0 {
			continue
		}
		s := math.Log(r / c.Candidate)
		sum += s
		speed = append(speed, s)
		size = append(size, math.Log(max(c.Work, 1)))
		if rest, grid := grid(c.Case); grid > 0 {
			g := grids[rest]
			grids[rest] = [2][]float64{append(g[0], math.Log(grid)), append(g[1], s)}
		}
	}
	if len(speed) == 0 {
		return
	}
	l.numbers["speedup"] = math.Exp(sum / float64(len(speed)))
	if b, ok := slope(size, speed); ok {
		l.numbers["speedup_slope"] = b
	} else if len(speed) >= int(l.numbers["configs"]) {
		l.numbers["speedup_slope"] = 0 // all of one size, or of sizes that nobody can tell
	}
	worst := math.Inf(1)
	for _, g := range grids {
		if b, ok := slope(g[0], g[1]); ok {
			worst = min(worst, b)
		}
	}
	if !math.IsInf(worst, 0) {
		l.numbers["concurrency_slope"] = worst
	}
}

// slope is that of a line through points; false where they stand above each other.
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

// grid splits the name of a case such as attention/B32_H8_S512 into what heads and batch
// are, multiplied, and the rest; 0 where it names neither.
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
