package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadPerf reads the counters of perf stat -x, (not per interval, core or thread). The record has
// one launch: everything that was counted.
func ReadPerf(r io.Reader) (*Profile, error) { return readAs(r, readPerf) }

// ErrNoCounters means that the machine provided none of the counters.
var ErrNoCounters = errors.New("perf counted nothing: the machine has no counters for these events, or does not allow reading them")

const mostPerfEvents = 1000

// isPerf checks the first line that is not a comment.
func isPerf(data []byte) bool {
	for line := range bytes.Lines(data[:min(len(data), 4096)]) {
		if text := strings.TrimSpace(string(line)); text != "" && text[0] != '#' {
			_, err := readPerfLine(text)
			return err == nil
		}
	}
	return false
}

func readPerf(data []byte) (*Profile, error) {
	p := &Profile{Format: Format, Tool: Tool{Name: "perf"}}
	l, counted, number := Launch{}, 0, 0
	place := map[string]int{} // index of a metric, by event
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		c, err := readPerfLine(text)
		if err != nil {
			return nil, fmt.Errorf("cannot read perf counters: line %d: %w", number, err)
		}
		if c.value != nil {
			counted++
		}
		if i, seen := place[c.event]; seen {
			l.Metrics[i].add(c.value)
		} else if len(l.Metrics) == mostPerfEvents {
			return nil, fmt.Errorf("cannot read perf counters: more than %d events", mostPerfEvents)
		} else {
			place[c.event] = len(l.Metrics)
			l.Metrics = append(l.Metrics, c.metric())
		}
		if c.value != nil && c.running < 100 && len(p.Notes) < maxNotes {
			p.Notes = append(p.Notes, fmt.Sprintf("%s was counted %.0f %% of the time and scaled: there are more events than counters", c.event, c.running))
		}
	}
	if counted == 0 {
		return nil, fmt.Errorf("cannot read perf counters: %w", ErrNoCounters)
	}
	p.Launches = []Launch{l}
	return p, nil
}

// counter is one line of perf stat -x,.
type counter struct {
	event, unit, text string
	value             *float64
	running           float64 // percent of the time in which it was counted
}

// readPerfLine parses value,unit,event,time,percent. The rest of the line has ratios that perf
// computes; pawl computes its own.
func readPerfLine(line string) (counter, error) {
	fields := strings.Split(line, ",")
	if len(fields) < 5 || len(line) > maxCell {
		return counter{}, fmt.Errorf("%.60q is not a line of perf stat -x,", line)
	}
	c := counter{event: eventName(fields[2]), unit: fields[1]}
	if c.event == "" {
		return counter{}, fmt.Errorf("%.60q does not name an event", line)
	}
	var err error
	if c.running, err = number(fields[4]); err != nil {
		return counter{}, err
	}
	if strings.HasPrefix(fields[0], "<not ") {
		c.text = truncated(fields[0], 100)
		return c, nil
	}
	v, err := number(fields[0])
	if err != nil {
		return counter{}, err
	}
	c.value = &v
	return c, nil
}

func number(field string) (float64, error) {
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.40q is not a count: was it written with a locale other than LC_ALL=C?", field)
	}
	return v, nil
}

// eventName returns an event without perf's additions: instructions:u, or cpu_core/instructions/ on
// processors with two kinds of cores.
func eventName(event string) string {
	if pmu, rest, ok := strings.Cut(event, "/"); ok && strings.HasPrefix(pmu, "cpu") {
		event, _, _ = strings.Cut(rest, "/")
	}
	event, _, _ = strings.Cut(event, ":")
	return truncated(event, 200)
}

func (c counter) metric() Metric {
	unit := c.unit
	if unit == "msec" {
		unit = "ms"
	}
	m := Metric{Name: c.event, Unit: truncated(unit, 40), Value: c.value, Text: c.text}
	if c.event == "instructions" || c.event == "cycles" { // these names also exist for GPUs
		m.Name, m.Label = "host_"+c.event, c.event
	}
	return m
}

// add sums the counts of one event on two kinds of cores.
func (m *Metric) add(v *float64) {
	switch {
	case v == nil:
	case m.Value == nil:
		m.Value, m.Text = v, ""
	default:
		sum := *m.Value + *v
		m.Value = &sum
	}
}
