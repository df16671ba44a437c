package profile

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// Facts are the quantities of one launch, under names that do not depend on the tool,
// its release or the GPU: dram_pct, registers, stall_long_scoreboard_pct. One that the
// tool did not measure is not there. Quantities lists them all.
type Facts map[string]float64

// Facts gives the launch's values under the names of Quantities.
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

// direct is a quantity that a metric gives as it is, without the work of all the
// facts: for choosing between many launches.
func (l Launch) direct(quantity string) (v float64, ok bool) {
	i := slices.IndexFunc(table(), func(s source) bool { return s.Name == quantity })
	s := table()[i]
	best := len(s.metrics)
	for i := range l.Metrics {
		m := &l.Metrics[i]
		names := []string{m.Name}
		if m.Name == "" {
			names = named(m.Section, m.Label)
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

// time is the launch's time, direct where that is possible.
func (l Launch) time() (float64, bool) {
	if v, ok := l.direct("time_ns"); ok {
		return v, true
	}
	v, ok := l.Facts()["time_ns"]
	return v, ok
}

// shape adds what the launch says of itself where no metric does.
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

// values collects a launch's metrics. One with a name is more exact than one with a
// label alone, which was printed for people.
func (l Launch) values() values {
	m := make(values, len(l.Metrics))
	for i := range l.Metrics {
		if name := l.Metrics[i].Name; name != "" {
			m.add(name, &l.Metrics[i])
		}
	}
	for i := range l.Metrics {
		if metric := &l.Metrics[i]; metric.Name == "" {
			for _, name := range named(metric.Section, metric.Label) {
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

// units are those of the quantities that metrics are sources of.
var units = sync.OnceValue(func() map[string]string {
	units := map[string]string{}
	for _, s := range table() {
		for _, name := range s.metrics {
			units[name] = s.Unit
		}
	}
	return units
})

// wholeBytes undoes the rounding of a page for people, where 32 KiB are 32.77 Kbyte:
// it finds the roundest number of bytes that is printed the same. Values with more
// than two decimals are exact already.
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

// sum adds what is there of several metrics; something must be.
func (m values) sum(names ...string) (sum float64, ok bool) {
	for _, name := range names {
		if v, have := m[name]; have {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}
