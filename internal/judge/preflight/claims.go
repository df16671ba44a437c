package preflight

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// checkClaims checks the claims of the suite against what the hardware can do.
func (l *checker) checkClaims(p point) {
	c := p.claims
	if c.GFLOPS == 0 && c.GBps == 0 && c.TimeUS == 0 {
		return
	}
	g := Gate{Name: ClaimsGate, Benchmark: p.benchmark, Config: p.config}
	if l.Target.card == nil {
		l.add(g.with(Unknown, "name the card, such as --gpu L4", "the claims of the suite are not checked: the peak rates of a card are needed"))
		return
	}
	card := *l.Target.card
	work := gpu.Work{Cold: true}
	if len(p.work) > 0 {
		work = p.work[0]
	}
	for _, w := range p.work { // the claim must be possible for at least one of them
		if !w.Cold {
			work = w
		}
	}
	if c.GFLOPS > 0 {
		l.add(claimedRate(g, card, work, c.GFLOPS))
	}
	if c.GBps > 0 {
		l.add(claimedBandwidth(g, card, work, c.GBps))
	}
	if c.TimeUS > 0 {
		l.add(claimedTime(g, card, work, c.TimeUS))
	}
}

const impossible = "measure it with pawl bench, or check flops, bytes and dtype in the suite"

func claimedRate(g Gate, card gpu.Card, w gpu.Work, gflops float64) Gate {
	peak, unit := peakOf(card, w.DType)
	g.Number, g.Limit, g.Unit = gflops, peak.Value*1e3, "GFLOP/s"
	switch {
	case !peak.Known():
		g.Limit = 0
		return g.with(Unknown, "", "%.0f GFLOP/s claimed, but no peak is known for %s in %s", gflops, card.Name, w.DType)
	case gflops > g.Limit:
		return g.with(Stop, impossible, "%.0f GFLOP/s claimed, but the peak of %s is %.0f (%s)", gflops, card.Name, g.Limit, unit)
	}
	return g.with(Pass, "", "%.0f GFLOP/s claimed, %.0f %% of the peak of %s (%s)", gflops, 100*gflops/g.Limit, card.Name, unit)
}

// peakOf returns the highest peak that a claim can refer to. The type that a case computes
// in is often unknown, and FP32 data may go through the tensor cores as TF32.
func peakOf(card gpu.Card, d gpu.DType) (gpu.Cell[float64], string) {
	types := map[gpu.DType][]gpu.DType{"": gpu.DTypes(), gpu.FP32: {gpu.FP32, gpu.TF32}}[d]
	if types == nil {
		types = []gpu.DType{d}
	}
	best, name := gpu.Cell[float64]{}, string(d)
	for _, t := range types {
		if p := card.Peak(t); p.Known() && p.Value > best.Value {
			best, name = p, string(t)
		}
	}
	return best, name
}

func claimedBandwidth(g Gate, card gpu.Card, w gpu.Work, gbps float64) Gate {
	g.Number, g.Limit, g.Unit = gbps, card.BandwidthGBs.Value, "GB/s"
	const faster = "%.0f GB/s claimed, but the memory bandwidth of %s is %.0f"
	switch {
	case !card.BandwidthGBs.Known():
		return g.with(Unknown, "", "%.0f GB/s claimed, but the memory bandwidth of %s is not known", gbps, card.Name)
	case gbps <= g.Limit:
		return g.with(Pass, "", "%.0f GB/s claimed, %.0f %% of the memory bandwidth of %s", gbps, 100*gbps/g.Limit, card.Name)
	case !w.Cold:
		return g.with(Warn, "measure with cache: cold", faster+"; reads from a warm cache can be faster", gbps, card.Name, g.Limit)
	}
	return g.with(Stop, impossible, faster, gbps, card.Name, g.Limit)
}

func claimedTime(g Gate, card gpu.Card, w gpu.Work, us float64) Gate {
	_, unit := peakOf(card, w.DType)
	w.DType = gpu.DType(unit)
	floor := card.Floor(w)
	g.Number, g.Limit, g.Unit = us, floor.Seconds*1e6, "us"
	switch {
	case floor.Seconds == 0:
		return g.with(Unknown, "set flops and bytes of the benchmark", "%.4g us claimed, but no lower bound is known", us)
	case us < g.Limit:
		limit := map[bool]string{true: "memory", false: "arithmetic"}[floor.Memory > floor.Compute]
		return g.with(Stop, impossible, "%.4g us claimed, but %s needs at least %.4g (limited by %s)", us, card.Name, g.Limit, limit)
	}
	return g.with(Pass, "", "%.4g us claimed, %.1f times the minimum of %s", us, us/g.Limit, card.Name)
}

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
