package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Stalls holds the warp stall reasons of a kernel before and after a change, in cycles per
// issued instruction.
type Stalls struct {
	Bars  []Stall    // longest first, the rest summed at the end
	Total [2]float64 // sum including reasons without a bar; 0 if a side is unknown
}

// Stall is one stall reason. An unknown side is 0.
type Stall struct {
	Reason string // in words
	Cycles [2]float64
}

// stallsDrawn is how many reasons get their own bar.
const stallsDrawn = 6

// stallWords explain each reason next to the tool's own word. Experts look for that word;
// others need the explanation.
var stallWords = map[string]string{
	"barrier":            "barrier: other warps of the block",
	"branch_resolving":   "branch resolving: branch target",
	"dispatch":           "dispatch: held back by the dispatcher",
	"drain":              "drain: writes before exit",
	"gmma":               "gmma: tensor cores",
	"imc_miss":           "imc miss: constant cache",
	"lg_throttle":        "lg throttle: global memory queue full",
	"long_scoreboard":    "long scoreboard: data from memory",
	"math_pipe_throttle": "math pipe throttle: arithmetic pipe busy",
	"membar":             "membar: memory barrier",
	"mio_throttle":       "mio throttle: shared memory queue full",
	"misc":               "misc",
	"no_instruction":     "no instruction: code not fetched yet",
	"not_selected":       "not selected: another warp was chosen",
	"selected":           "selected: issuing, no stall",
	"short_scoreboard":   "short scoreboard: data from shared memory",
	"sleeping":           "sleeping",
	"tex_throttle":       "tex throttle: texture queue full",
	"wait":               "wait: fixed latency",
}

// StallsOf compares the stall reasons of two sides; either may be nil. It returns nil if no
// tool counted any.
func StallsOf(before, after *diagnose.Subject) *Stalls {
	s := &Stalls{}
	var sides [2]profile.Facts
	for i, seen := range []*diagnose.Subject{before, after} {
		if seen != nil {
			sides[i] = seen.Facts
		}
	}
	reasons := map[string]bool{}
	for _, facts := range sides {
		for name, v := range facts {
			if reason, ok := stallReason(name); ok && usable(v) {
				reasons[reason] = true
			}
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		bar := Stall{Reason: cmp.Or(stallWords[reason], strings.ReplaceAll(reason, "_", " "))}
		for i, facts := range sides {
			if v := facts["stall_"+reason]; usable(v) {
				bar.Cycles[i] = v
				s.Total[i] += v
			}
		}
		s.Bars = append(s.Bars, bar)
	}
	if len(s.Bars) == 0 {
		return nil
	}
	slices.SortStableFunc(s.Bars, func(a, b Stall) int {
		return cmp.Compare(max(b.Cycles[0], b.Cycles[1]), max(a.Cycles[0], a.Cycles[1]))
	})
	s.sumRest()
	return s
}

// usable reports whether a bar can show a number of cycles.
func usable(v float64) bool { return v > 1e-9 && v < 1e21 }

// stallReason returns the stall reason that a quantity measures.
func stallReason(quantity string) (string, bool) {
	reason, ok := strings.CutPrefix(quantity, "stall_")
	return reason, ok && !strings.HasSuffix(reason, "_pct")
}

// sumRest merges the bars beyond the limit into one.
func (s *Stalls) sumRest() {
	if len(s.Bars) <= stallsDrawn+1 {
		return
	}
	rest := Stall{Reason: fmt.Sprintf("%d others", len(s.Bars)-stallsDrawn)}
	for _, b := range s.Bars[stallsDrawn:] {
		rest.Cycles[0] += b.Cycles[0]
		rest.Cycles[1] += b.Cycles[1]
	}
	s.Bars = append(s.Bars[:stallsDrawn], rest)
}

// both reports whether there are two sides.
func (s *Stalls) both() bool { return s.Total[0] > 0 && s.Total[1] > 0 }

// Describe describes the bars in words.
func (s *Stalls) Describe() string {
	var parts []string
	for _, b := range s.Bars {
		parts = append(parts, b.Reason+" "+s.cycles(b.Cycles))
	}
	return fmt.Sprintf("What warps wait for, in cycles per instruction, %s in total. %s.", s.cycles(s.Total), strings.Join(parts, "; "))
}

func (s *Stalls) cycles(c [2]float64) string {
	switch {
	case s.both():
		return cycles(c[0]) + " to " + cycles(c[1])
	case s.Total[0] > 0:
		return cycles(c[0])
	default:
		return cycles(c[1])
	}
}

// cycles formats v with as many digits as a bar can show.
func cycles(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.1 || v == 0:
		return fmt.Sprintf("%.1f", v)
	default:
		return words.Short(v)
	}
}

// stallTones are the colors of the two sides.
var stallTones = [2]chart.Tone{chart.Base, chart.Now}

// Draw draws one row per reason, its name above its bars so that the bars get the full
// width, and below them the sum of all cycles of each side.
func (s *Stalls) Draw(width float64) *chart.Drawing {
	const name, thick, gap = 14.0, 8.0, 9.0
	d := chart.New(width, 0)
	most := 0.0
	for _, b := range s.Bars {
		most = max(most, b.Cycles[0], b.Cycles[1])
	}
	room := width - 36 // leaves space for the number behind the longest bar
	y := 0.0
	for _, b := range s.Bars {
		d.Print(chart.Ink, chart.At(0, y+10), chart.Label{Text: b.Reason, Align: chart.Start, Most: width})
		y += name
		for i, v := range b.Cycles {
			if s.Total[i] == 0 {
				continue
			}
			long := max(v/most*room, 1)
			d.Bar(stallTones[i], 0, y, long, thick)
			d.Print([]chart.Tone{chart.Soft, chart.Ink}[i], chart.At(long+5, y+thick-0.8), chart.Label{Text: cycles(v), Align: chart.Start})
			y += thick + 1.5
		}
		y += gap
	}
	x := 0.0
	for i, t := range stallTones {
		if s.Total[i] == 0 {
			continue
		}
		l := chart.Label{Text: cycles(s.Total[i]) + " in total", Align: chart.Start}
		if s.both() {
			l.Text = []string{"base", "candidate"}[i] + ", " + l.Text
		}
		d.Bar(t, x, y+4, 9, 8)
		d.Print(chart.Ink, chart.At(x+14, y+11.6), l)
		x += 14 + l.Width() + 18
	}
	d.Height = y + 16
	return d
}
