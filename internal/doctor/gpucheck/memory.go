package gpucheck

import (
	"context"
	"math"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/stats"
)

func coldRead(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "memory", "read_bytes", "cold_ns")
	if err != nil {
		return without(err)
	}
	c, ok := gpu.CardFor(e.id)
	if !ok || !c.BandwidthGBs.Known() {
		return notRun("the bandwidth of %s is not known", e.id.Name)
	}
	got := v[0][0] / stats.Median(v[1])
	share := got / c.BandwidthGBs.Value
	return decide(share >= 0.7 && share <= 1, "%.0f GB/s, %.0f %% of %.0f", got, 100*share, c.BandwidthGBs.Value)
}

func hotRead(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "memory", "quarter_bytes", "quarter_cold_ns", "quarter_hot_ns")
	if err != nil {
		return without(err)
	}
	cold, hot := v[0][0]/stats.Median(v[1]), v[0][0]/stats.Median(v[2])
	return decide(hot > 1.5*cold, "%.0f GB/s hot, %.0f cold", hot, cold)
}

func attackedRead(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "memory", "quarter_cold_ns", "quarter_attacked_ns")
	if err != nil {
		return without(err)
	}
	before, after := stats.Median(v[0]), stats.Median(v[1])
	return decide(math.Abs(after/before-1) <= 0.03, "%.1f us before and %.1f us after a kernel asked the cache to keep its inputs", before/1e3, after/1e3)
}

func threeWays(context.Context, *exam) (State, string) {
	return notRun("pawl compares its launcher with pawl.h and Python only by hand so far: see docs/how-to/first-gpu.md")
}

// hotModes looks for clusters in hot reads, before which outputs were poisoned or not.
func hotModes(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "memory", "hot_ns")
	if err != nil {
		return without(err)
	}
	step, err := e.measured(ctx, "times", "step_ns")
	if err != nil {
		return without(err)
	}
	modes := stats.Modes(v[0], step[0][0])
	where := make([]float64, 0, len(modes))
	for _, mode := range modes {
		where = append(where, math.Round(mode.At/100)/10)
	}
	return decide(len(modes) == 1, "%d, at %v us", len(modes), where)
}
