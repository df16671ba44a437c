package preflight

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
)

// checkClaims checks the claims of the suite against what the hardware can do.
func (l *checker) checkClaims(p point) {
	c := p.claims
	if c.GFLOPS == 0 && c.GBps == 0 && c.TimeUS == 0 {
		return
	}
	g := Gate{Name: ClaimsGate, Benchmark: p.benchmark, Config: p.config}
	if l.Target.card == nil {
		g.State, g.Text, g.Fix = Unknown, "what the suite claims is not checked: the peaks of a card are needed", "name one, as in --gpu L4"
		l.add(g)
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

const impossible = "measure it before it is believed: pawl bench; or check flops, bytes and dtype of the suite"

func claimedRate(g Gate, card gpu.Card, w gpu.Work, gflops float64) Gate {
	peak, unit := peakOf(card, w.DType)
	g.Number, g.Limit, g.Unit = gflops, peak.Value*1e3, "GFLOP/s"
	switch {
	case !peak.Known():
		g.State, g.Limit = Unknown, 0
		g.Text = fmt.Sprintf("%.0f GFLOP/s are claimed, and no peak is known for %s in %s", gflops, card.Name, w.DType)
	case gflops > g.Limit:
		g.State, g.Fix = Stop, impossible
		g.Text = fmt.Sprintf("%.0f GFLOP/s are claimed, and %s has %.0f at most (%s)", gflops, card.Name, g.Limit, unit)
	default:
		g.State = Pass
		g.Text = fmt.Sprintf("%.0f GFLOP/s claimed, %.0f %% of the peak of %s (%s)", gflops, 100*gflops/g.Limit, card.Name, unit)
	}
	return g
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
	g.State = Pass
	g.Text = fmt.Sprintf("%.0f GB/s claimed, %.0f %% of the memory of %s", gbps, 100*gbps/g.Limit, card.Name)
	if gbps <= g.Limit {
		return g
	}
	g.State, g.Fix = Stop, impossible
	g.Text = fmt.Sprintf("%.0f GB/s are claimed, and the memory of %s has %.0f at most", gbps, card.Name, g.Limit)
	if !w.Cold {
		g.State = Warn
		g.Text += "; from a warm cache there may be more"
		g.Fix = "measure with cache: cold"
	}
	return g
}

func claimedTime(g Gate, card gpu.Card, w gpu.Work, us float64) Gate {
	_, unit := peakOf(card, w.DType)
	w.DType = gpu.DType(unit)
	floor := card.Floor(w)
	g.Number, g.Limit, g.Unit = us, floor.Seconds*1e6, "us"
	switch {
	case floor.Seconds == 0:
		g.State = Unknown
		g.Text = fmt.Sprintf("%.4g us are claimed, and nothing is known that would bound it", us)
		g.Fix = "write flops and bytes of the benchmark"
	case us < g.Limit:
		g.State, g.Fix = Stop, impossible
		g.Text = fmt.Sprintf("%.4g us are claimed, and %s needs %.4g at least (%s)", us, card.Name, g.Limit, bound(floor))
	default:
		g.State = Pass
		g.Text = fmt.Sprintf("%.4g us claimed, %.1f times the least of %s", us, us/g.Limit, card.Name)
	}
	return g
}

func bound(f gpu.Floor) string {
	if f.Memory > f.Compute {
		return "its memory"
	}
	return "its arithmetic"
}
