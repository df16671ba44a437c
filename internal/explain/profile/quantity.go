package profile

import (
	"slices"
	"sync"
)

// Quantity describes one quantity of Facts.
type Quantity struct {
	Name  string // dram_pct
	Unit  string // ns, byte, byte/s, hz, % (from 0 to 100); empty for a count or a ratio
	About string // what it is, in words that follow "the": share of ..., registers of a thread
}

// source is a quantity with the metrics it can be read from, best first. Quantities computed from
// several metrics are in derive.go.
type source struct {
	Quantity
	metrics []string
}

// Quantities lists all quantities in display order.
func Quantities() []Quantity {
	all := table()
	list := make([]Quantity, len(all))
	for i, s := range all {
		list[i] = s.Quantity
	}
	return list
}

// table is built once, because it is used for every launch. A quantity's own name is also a source
// of it, unless a tool uses that name for something else: perf's cycles are those of the processor.
var table = sync.OnceValue(func() []source {
	all := slices.Concat(timeSources, speedSources, memorySources, pipeSources, launchSources, warpSources(), accessSources, workSources, hostSources)
	taken := map[string]bool{}
	for _, s := range all {
		for _, name := range s.metrics {
			taken[name] = true
		}
	}
	for i, s := range all {
		if !taken[s.Name] {
			all[i].metrics = append([]string{s.Name}, s.metrics...)
		}
	}
	return all
})

// elapsed and active are ncu's suffixes for percent of the possible: of all cycles, or
// of those in which the unit had work.
const (
	elapsed = ".avg.pct_of_peak_sustained_elapsed"
	active  = ".avg.pct_of_peak_sustained_active"
)

// activeAndElapsed returns the names of metrics in percent of active cycles, then of all.
func activeAndElapsed(names ...string) []string {
	var list []string
	for _, suffix := range []string{active, elapsed} {
		for _, name := range names {
			list = append(list, name+suffix)
		}
	}
	return list
}

func from(name, unit, about string, metrics ...string) source {
	return source{Quantity{Name: name, Unit: unit, About: about}, metrics}
}
