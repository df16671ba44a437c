package artifact

import (
	"strconv"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// metric is the quantity in which a speed is shown.
type metric struct {
	title, unit string
	work        func(sweep.Config) float64 // work of one run, such that work per ns is in the unit; nil for time itself
	tick        func(float64) string
}

// metricOf returns the first metric that all configs have: operations, then bytes, then
// time.
func metricOf(configs []sweep.Config) metric {
	for _, m := range []metric{
		{unit: "FLOP/s, higher is better", work: func(c sweep.Config) float64 { return c.Flops }},
		{unit: "B/s, higher is better", work: func(c sweep.Config) float64 { return c.Bytes }},
	} {
		if largest, all := m.largest(configs); all {
			return m.scaled(largest)
		}
	}
	return metric{"Time by config", "lower is better", nil, func(v float64) string { return words.Quantity(v, "ns") }}
}

// largest returns the highest value of the metric, if all configs have one.
func (m metric) largest(configs []sweep.Config) (largest float64, all bool) {
	for _, c := range configs {
		if !(m.work(c) > 0) {
			return 0, false
		}
		for _, s := range c.Standings {
			largest = max(largest, m.work(c)/s.Time)
		}
	}
	return largest, true
}

// scaled picks the unit with the shortest numbers. One per nanosecond is 1 G per second.
func (m metric) scaled(largest float64) metric {
	factor, prefix := 1.0, "G"
	switch {
	case largest >= 2000:
		factor, prefix = 1e-3, "T"
	case largest < 1:
		factor, prefix = 1e3, "M"
	}
	work := m.work
	return metric{"Speed by config", prefix + m.unit, func(c sweep.Config) float64 { return factor * work(c) }, short}
}

// short formats a tick without insignificant digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// point places a standing on the metric's axis. For work per time, the longest time is the
// lowest value.
func (m metric) point(of int, s sweep.Standing, c sweep.Config) point {
	p := point{of: of, value: s.Time, sure: true}
	if s.Interval != nil {
		p.low, p.high = s.Interval.Low, s.Interval.High
	}
	if m.work == nil {
		return p
	}
	p.value = m.work(c) / s.Time
	if s.Interval != nil {
		p.low, p.high = m.work(c)/s.Interval.High, m.work(c)/s.Interval.Low
	}
	return p
}
