package trial

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Metrics that pawl reads from the driver, if the suite lists them.
const (
	MetricEnergy = "energy"        // joules of one run
	MetricMemory = "device_memory" // bytes of device memory that the process has
	MetricClock  = "sm_clock"      // MHz under sustained load
)

// UsageMetrics lists the metrics that pawl reads from the driver.
var UsageMetrics = []string{MetricEnergy, MetricMemory, MetricClock}

// Meter reads the device while f runs. pid is the process whose memory counts.
type Meter func(ctx context.Context, pid int, f func() error) (gpu.Usage, error)

// Sustained is how long a case runs for its usage to be read: energy counters and power readings change every 20 to
// 100 ms, so half a second is known within some percent.
const Sustained = 500 * time.Millisecond

const maxSustainedRuns = 1_000_000

// use runs the prepared case back to back, and adds what it used to its values. A harness that cannot run a case for so
// many times reports nothing.
func (p *process) use(ctx context.Context, cr *measure.CaseRound) error {
	if p.Meter == nil || cr.Error != "" || p.session == nil || p.scores() || !p.session.Welcome.Has(harness.FeatureRun) {
		return nil
	}
	runs := maxSustainedRuns
	if ns := stats.Median(cr.Samples); ns > 0 {
		runs = int(min(math.Ceil(float64(Sustained)/ns), maxSustainedRuns))
	}
	u, err := p.Meter(ctx, p.session.PID(), func() error { return p.session.Run(ctx, harness.Run{Iterations: runs}) })
	if err != nil {
		return p.refuse(ctx, cr, err)
	}
	p.heat.worked()
	p.add(MetricEnergy, "J", measure.Lower, u.EnergyJ/float64(runs))
	p.add(MetricMemory, "B", measure.Lower, float64(u.PeakBytes))
	p.add(MetricClock, "MHz", measure.Higher, u.SMClockMHz)
	return nil
}

// add adds a value that the suite lists and the driver reports. What the harness says of the same name is dropped.
func (p *process) add(name, unit string, better measure.Better, value float64) {
	p.values = slices.DeleteFunc(p.values, func(v measure.Values) bool { return v.Metric == name })
	if slices.Contains(p.Metrics, name) && value > 0 {
		p.values = append(p.values, measure.Values{Metric: name, Unit: unit, Better: better, Samples: measure.Samples{value}})
	}
}
