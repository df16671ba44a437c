package integrity

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// floorShare is how much of the speed of light a time may claim to miss: tables and
// boost clocks are not exact.
const floorShare = 0.9

// TooGood is how many times better than its base a case may be before a person has to
// look at it.
const TooGood = 10

// Implausible says why the times of a case cannot be: below the time that the device
// needs for its declared work. Empty where they can, or where nothing is known.
func Implausible(device gpu.Identity, c measure.Case) string {
	floor := floorOf(device, c)
	if !(floor > 0) || c.Unit != "ns" {
		return ""
	}
	var medians []float64
	for _, r := range c.Rounds {
		if r.Error == "" && len(r.Samples) > 0 {
			medians = append(medians, stats.Median(r.Samples))
		}
	}
	if len(medians) == 0 || stats.Median(medians) >= floorShare*floor {
		return ""
	}
	return fmt.Sprintf("implausible: %s a run, and %s cannot do the declared work (%.3g flops, %.3g bytes) in less than %s",
		duration(stats.Median(medians)), device.Name, c.Flops, c.Bytes, duration(floor))
}

// floorOf is the least time of a case in nanoseconds; 0 where nothing is known.
func floorOf(device gpu.Identity, c measure.Case) float64 {
	if device.Kind == gpu.CPU {
		return hostFloor(device, c.Flops)
	}
	card, ok := gpu.CardOf(device)
	if !ok {
		return 0
	}
	// In which format a kernel computes is not told: the fastest errs downwards.
	work := gpu.Work{Flops: c.Flops, Bytes: c.Bytes, Cold: c.Cache == measure.Cold}
	least := 0.0
	for _, d := range gpu.DTypes() {
		if work.DType = d; !card.Peak(d).Known() {
			continue
		}
		floor := card.Floor(work)
		if !floor.Certain {
			return 0
		}
		if least == 0 || floor.Seconds < least {
			least = floor.Seconds
		}
	}
	return least * 1e9
}

// What no core of a CPU exceeds: two units of 16 FP32 multiply-adds each, at a clock
// that none reaches. Matrix units of newer ones are for short types and do 16 times that.
const hostFlops = 16 * 2 * 16 * 2 * 6.5e9

func hostFloor(device gpu.Identity, flops float64) float64 {
	if device.Units <= 0 {
		return 0
	}
	return flops / (hostFlops * float64(device.Units)) * 1e9
}
