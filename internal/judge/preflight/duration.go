package preflight

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// shortUS is the kernel time below which the launch itself, 5 to 10 us, matters.
const shortUS = 10

// checkDuration warns of kernels so short that mostly the launch is measured. It uses the time
// from the last record, else the claimed time, else the minimum time that the work takes.
func (l *checker) checkDuration(p point) {
	g := Gate{Name: Duration, Benchmark: p.benchmark, Config: p.config, Limit: shortUS, Unit: "us"}
	us, from, found := 0.0, "", false
	for _, name := range p.names {
		if ns, ok := l.times[name]; ok && (!found || ns/1e3 < us) {
			us, from, found = ns/1e3, "as last measured", true
		}
	}
	if p.claims.TimeUS > 0 && !found {
		us, from, found = p.claims.TimeUS, "as claimed", true
	}
	if !found && l.Target.card != nil {
		for _, w := range p.work {
			if floor := l.Target.card.Floor(w); floor.Seconds*1e6 >= shortUS && (!found || floor.Seconds*1e6 < us) {
				us, from, found = floor.Seconds*1e6, "at least, by its work", true
			}
		}
	}
	g.Number = us
	switch {
	case !found: // there is nothing to do about an unknown time
	case us < shortUS:
		l.add(g.with(Warn, "do more work per launch: use a larger tile or batch, fuse kernels, or use a CUDA graph", "%.3g us %s: the launch alone takes 5 to 10 us", us, from))
	default:
		l.add(g.with(Pass, "", "%.4g us %s, above %d us", us, from, shortUS))
	}
}

// timesOf returns the medians of the candidate's cases in a record, in nanoseconds, if
// launches cost time on its device.
func timesOf(run *measure.Run) map[string]float64 {
	times := map[string]float64{}
	if run == nil || run.Device.Kind == gpu.CPU {
		return times
	}
	for _, c := range run.Cases {
		if c.Implementation != suite.Candidate || c.Unit != "ns" || c.Metric != "" && c.Metric != measure.MetricTime {
			continue
		}
		var all []float64
		for _, r := range c.Rounds {
			all = append(all, r.Samples...)
		}
		if len(all) > 0 {
			times[c.Name()] = stats.Median(all)
		}
	}
	return times
}
