package profile

import (
	"slices"
	"sync"
)

// Quantity is one thing that facts are about.
type Quantity struct {
	Name  string // dram_pct
	Unit  string // ns, byte, byte/s, hz, % (from 0 to 100); empty for a count or a ratio
	About string // what it is, in words that follow "the": share of ..., registers of a thread
}

// source is a quantity with the metrics that it may be read from, the best first.
// Those that several metrics make together are in derive.go.
type source struct {
	Quantity
	metrics []string
}

// Quantities lists all that there are, in the order in which people read them.
func Quantities() []Quantity {
	all := table()
	list := make([]Quantity, len(all))
	for i, s := range all {
		list[i] = s.Quantity
	}
	return list
}

// table is built once: readers of many launches ask for it for each. A quantity's own
// name is a source of it, unless it is a tool's name for something else: what perf
// calls cycles are those of the processor.
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

// elapsed and active are how ncu says "in percent of what is possible": of all cycles,
// or of those in which the unit had work.
const (
	elapsed = ".avg.pct_of_peak_sustained_elapsed"
	active  = ".avg.pct_of_peak_sustained_active"
)

// both are the names of metrics in percent of active cycles, then of all.
func both(names ...string) []string {
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
