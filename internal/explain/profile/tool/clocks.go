package tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Clocks is a kernel's time by two clocks: the harness's own, which decides verdicts, and the trace
// of a tool, which the kernel cannot manipulate.
type Clocks struct {
	Harness  float64 `json:"own_ns"`   // median of one run by the harness's clock
	Trace    float64 `json:"busy_ns"`  // time per run with a kernel on the device, by the trace
	Agree    bool    `json:"agree"`    // the harness's clock is not below the trace
	Sentence string  `json:"sentence"` // for people
}

const (
	// shorter is the min ratio of a clock to the trace. Event timers miss nothing of a kernel, but
	// tracing adds a little to short ones.
	shorter = 0.80
	// grain is how much two clocks of a device may differ for any measurement.
	grain = 1000 // ns
	// longer is the ratio to the trace above which launching and waiting are mentioned.
	longer = 1.5
)

// CompareClocks compares the samples of a harness, each of one run, with a trace of the given
// number of runs. A clock that reports less than the traced kernels took is wrong or was tampered
// with. A result ten times better than all others needs this check first.
func CompareClocks(samples measure.Samples, trace *profile.Profile, runs int) (Clocks, error) {
	if len(samples) == 0 || runs < 1 {
		return Clocks{}, fmt.Errorf("cannot compare two clocks: %d samples, %d traced runs", len(samples), runs)
	}
	busy, err := busyTime(trace.Launches)
	if err != nil {
		return Clocks{}, fmt.Errorf("cannot compare two clocks: %w", err)
	}
	c := Clocks{Harness: stats.Median(samples), Trace: busy / float64(runs)}
	c.Agree = c.Harness >= shorter*c.Trace || c.Trace-c.Harness <= grain
	own, seen := micros(c.Harness), micros(c.Trace)
	switch {
	case !c.Agree:
		c.Sentence = fmt.Sprintf("the harness's clock says %s per run, but %s saw kernels busy for %s: the clock is wrong or does not time these kernels; do not trust the result", own, trace.Tool.Name, seen)
	case c.Harness > longer*c.Trace && c.Harness-c.Trace > grain:
		c.Sentence = fmt.Sprintf("two clocks agree on the kernels: %s of %s per run; in the remaining %.0f %% no kernel was on the device", seen, own, 100*(1-c.Trace/c.Harness))
	default:
		c.Sentence = fmt.Sprintf("two clocks agree: %s by the harness, %s by %s", own, seen, trace.Tool.Name)
	}
	return c, nil
}

// busyTime returns how long any kernel was on the device: overlapping kernels count once.
func busyTime(launches []profile.Launch) (float64, error) {
	type span struct{ from, to float64 }
	var spans []span
	total, placed := 0.0, true
	for _, l := range launches {
		took, ok := l.Facts()["time_ns"]
		if !ok || took < 0 {
			return 0, fmt.Errorf("the trace has no time for %.60q", l.Kernel)
		}
		total += took
		i := slices.IndexFunc(l.Metrics, func(m profile.Metric) bool { return m.Name == startColumn && m.Unit == "ns" && m.Value != nil })
		if i < 0 {
			placed = false
			continue
		}
		spans = append(spans, span{*l.Metrics[i].Value, *l.Metrics[i].Value + took})
	}
	if len(launches) == 0 {
		return 0, errors.New("the trace has no kernel")
	}
	if !placed {
		return total, nil
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	busy, until := 0.0, spans[0].from
	for _, s := range spans {
		busy += max(0, s.to-max(s.from, until))
		until = max(until, s.to)
	}
	return busy, nil
}

// startColumn is the column of a trace with the start of a launch, in nanoseconds.
const startColumn = "Start"

func micros(ns float64) string { return fmt.Sprintf("%.4g us", ns/1000) }
