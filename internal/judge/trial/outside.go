package trial

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Limits on the cost of reading pawl's own clock: a fraction of the time the samples took,
// with a minimum for very short samples.
const (
	outsideShare    = 0.1
	minExternalTime = 30 * time.Millisecond
	outsideSizes    = 6
	maxExternalRuns = 100_000 // max runs in one request
	// The first outsideRounds rounds always have readings: fewer show no spread. Later rounds do at random.
	outsideRounds = 4
)

// timeExternally times different numbers of runs with pawl's own clock.
func (p *process) timeExternally(ctx context.Context, c Case, cr *measure.CaseRound) error {
	if !p.session.Welcome.Has(harness.FeatureRun) || len(cr.Samples) == 0 {
		return nil
	}
	if p.check.round >= outsideRounds && p.Doubt.Secret.IntN(2) == 0 {
		return nil
	}
	run := stats.Median(cr.Samples)
	budget := max(outsideShare*run*float64(len(cr.Samples)*max(cr.Batch, 1)), float64(minExternalTime.Nanoseconds()))
	o := &measure.OutsideTiming{Clock: measure.TimerWall}
	if c.Timer == measure.TimerCPU {
		o.Clock = measure.TimerCPU
	}
	list := sizes(p.Doubt.Secret, budget/run)
	before, err := p.selfReported(ctx, c, list[0], cr.Batch)
	if err != nil {
		return p.refuse(ctx, cr, err)
	}
	for _, k := range list {
		took, err := p.read(ctx, o.Clock, harness.Run{Iterations: k})
		if errors.Is(err, errEnded) {
			*cr = measure.CaseRound{Error: err.Error(), Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
			return nil
		}
		if err != nil {
			return p.refuse(ctx, cr, err)
		}
		after, err := p.selfReported(ctx, c, k, cr.Batch)
		if err != nil {
			return p.refuse(ctx, cr, err)
		}
		o.Runs, o.Times = append(o.Runs, k), append(o.Times, took)
		o.Adjacent = append(o.Adjacent, (before+after)/2)
		before = after
	}
	cr.Outside = o
	return nil
}

// maxSelfReported is the max number of samples taken next to a reading. A sample takes much longer than its runs,
// because its outputs are checked.
const maxSelfReported = 5

// selfReported returns the time that the process now reports for a run: the mean over as many runs as pawl's
// clock reads, up to a limit. On a busy machine few runs find a free core more often than many.
func (p *process) selfReported(ctx context.Context, c Case, runs, batch int) (float64, error) {
	m, err := p.session.Measure(ctx, c.Key.Name(), harness.Measure{Samples: min(max(1, runs/max(batch, 1)), maxSelfReported)})
	if err != nil {
		return 0, err
	}
	return stats.Mean(m.Samples), nil
}

// sizes draws different numbers of runs with a given total, in random order, so that a
// process cannot predict the next one.
func sizes(rng *rand.Rand, runs float64) []int {
	list := []int{1, 2, 3, 4}
	if most := int(min(2*runs/outsideSizes, maxExternalRuns)); most >= 2*outsideSizes {
		list = list[:0]
		for i := range outsideSizes {
			low, high := i*most/outsideSizes, (i+1)*most/outsideSizes
			list = append(list, low+1+rng.IntN(high-low))
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// errEnded means that the harness's CPU time does not include all that the runs used.
var errEnded = errors.New("clocks disagree: the harness starts processes that end while it is timed, so no sample contains their CPU time; use the wall timer, or keep the work in the harness")

// read returns the time of one request by pawl's own clock, in nanoseconds.
func (p *process) read(ctx context.Context, clock measure.Timer, r harness.Run) (float64, error) {
	if clock == measure.TimerCPU {
		return p.readCPU(ctx, r)
	}
	began := now()
	if err := p.session.Run(ctx, r); err != nil {
		return 0, err
	}
	return float64(now().Sub(began).Nanoseconds()), nil
}

func (p *process) readCPU(ctx context.Context, r harness.Run) (float64, error) {
	before, err := p.session.CPU()
	if err != nil {
		return 0, err
	}
	if err := p.session.Run(ctx, r); err != nil {
		return 0, err
	}
	after, err := p.session.CPU()
	if err != nil {
		return 0, err
	}
	if after.Ended != before.Ended {
		return 0, errEnded
	}
	return float64((after.Time - before.Time).Nanoseconds()), nil
}
