package profile

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// Facts are the quantities of one launch, under names that do not depend on the tool, its release
// or the GPU: dram_pct, registers, stall_long_scoreboard_pct. A quantity that the tool did not
// measure is absent. Quantities lists them all.
type Facts map[string]float64

// Facts returns the launch's values under the names of Quantities.
func (l Launch) Facts() Facts {
	m := l.values()
	f := Facts{}
	for _, s := range table() {
		for _, name := range s.metrics {
			if v, ok := m[name]; ok {
				f[s.Name] = v
				break
			}
		}
	}
	f.shape(l)
	f.derive(m)
	return f
}

// direct returns a quantity that is a single metric, without computing all facts:
// for choosing between many launches.
func (l Launch) direct(quantity string) (v float64, ok bool) {
	i := slices.IndexFunc(table(), func(s source) bool { return s.Name == quantity })
	s := table()[i]
	best := len(s.metrics)
	for i := range l.Metrics {
		m := &l.Metrics[i]
		names := []string{m.Name}
		if m.Name == "" {
			names = metricNames(m.Section, m.Label)
		}
		for _, name := range names {
			rank := slices.Index(s.metrics[:best], name)
			if rank < 0 || m.Value == nil {
				continue
			}
			if w, fits := convert(*m.Value, m.Unit, s.Unit); fits {
				v, ok, best = w, true, rank
			}
		}
	}
	return v, ok
}

// time returns the launch's time, from a single metric if possible.
func (l Launch) time() (float64, bool) {
	if v, ok := l.direct("time_ns"); ok {
		return v, true
	}
	v, ok := l.Facts()["time_ns"]
	return v, ok
}

// shape adds the launch's own dimensions if no metric has them.
func (f Facts) shape(l Launch) {
	product := func(d [3]int) (float64, bool) {
		return float64(d[0]) * float64(d[1]) * float64(d[2]), min(d[0], d[1], d[2]) > 0
	}
	block, ok := product(l.Block)
	f.put("block_size", block, ok)
	grid, known := product(l.Grid)
	f.put("grid_size", grid, known)
	f.put("threads", block*grid, ok && known)
}

// values are metrics by the tool's own names, in base units.
type values map[string]float64

// values collects a launch's metrics. A metric with a name is more exact than one with only a
// label, which is rounded for display.
func (l Launch) values() values {
	m := make(values, len(l.Metrics))
	for i := range l.Metrics {
		if name := l.Metrics[i].Name; name != "" {
			m.add(name, &l.Metrics[i])
		}
	}
	for i := range l.Metrics {
		if metric := &l.Metrics[i]; metric.Name == "" {
			for _, name := range metricNames(metric.Section, metric.Label) {
				m.add(name, metric)
			}
		}
	}
	return m
}

func (m values) add(name string, metric *Metric) {
	if _, have := m[name]; have || metric.Value == nil {
		return
	}
	v, ok := convert(*metric.Value, metric.Unit, units()[name])
	if !ok {
		return
	}
	if strings.HasPrefix(name, "launch__shared_mem") {
		v = wholeBytes(*metric.Value, metric.Unit, v)
	}
	m[name] = v
}

// units maps metrics to the units of the quantities they are sources of.
var units = sync.OnceValue(func() map[string]string {
	units := map[string]string{}
	for _, s := range table() {
		for _, name := range s.metrics {
			units[name] = s.Unit
		}
	}
	return units
})

// wholeBytes undoes the rounding of a display page, where 32 KiB is printed as 32.77 Kbyte: it finds the
// roundest number of bytes that prints the same. Values with more than two decimals are already exact.
func wholeBytes(printed float64, unit string, v float64) float64 {
	if hundredths := printed * 100; !strings.HasPrefix(unit, "K") || math.Abs(hundredths-math.Round(hundredths)) > 1e-6 {
		return v
	}
	for step := 1024.0; step >= 4; step /= 2 {
		if whole := step * math.Round(v/step); math.Abs(whole-v) <= 5 {
			return whole
		}
	}
	return v
}

func (m values) get(name string) (float64, bool) {
	v, ok := m[name]
	return v, ok
}

// sum adds those of several metrics that exist; ok is false if none does.
func (m values) sum(names ...string) (sum float64, ok bool) {
	for _, name := range names {
		if v, have := m[name]; have {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}
