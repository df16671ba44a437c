package integrity

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// floorShare is the share of the physical minimum that a time must reach. It is below 1 because
// tables and boost clocks are not exact.
const floorShare = 0.9

// TooGood is how many times better than its base a case may be before a person must review it.
const TooGood = 10

// Implausible returns why the times of a case are impossible: below the min time that the device
// needs for the declared work. Empty if they are possible, or if the minimum is unknown.
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
	return fmt.Sprintf("implausible: %s per run, but %s cannot do the declared work (%.3g flops, %.3g bytes) in less than %s",
		duration(stats.Median(medians)), device.Name, c.Flops, c.Bytes, duration(floor))
}

// floorOf returns the min time of a case in nanoseconds; 0 if unknown.
func floorOf(device gpu.Identity, c measure.Case) float64 {
	if device.Kind == gpu.CPU {
		return hostFloor(device, c.Flops)
	}
	card, ok := gpu.CardOf(device)
	if !ok {
		return 0
	}
	floor := 0.0
	// The kernel's number format is unknown: the fastest one gives the lowest bound. One that is slower and
	// uncertain does not matter.
	if fastest := card.At(highestClock(device, card)).Fastest(); fastest.Certain && c.Flops > 0 {
		floor = c.Flops / (fastest.Value * 1e12)
	}
	memory := card.Floor(gpu.Work{Bytes: c.Bytes, Cold: c.Cache == measure.Cold})
	if memory.Certain {
		floor = max(floor, memory.Seconds)
	}
	return floor * 1e9
}

// unknownHeadroom is how far above its boost clock a card may run if its driver does not say: GeForce cards
// run up to a quarter above it.
const unknownHeadroom = 1.3

// highestClock returns the highest clock in MHz that a card can run at; 0 if unknown.
func highestClock(device gpu.Identity, card gpu.Card) float64 {
	boost := float64(max(card.BoostMHz.Value, card.TensorMHz.Value))
	if device.MaxClockMHz > 0 {
		return max(float64(device.MaxClockMHz), boost)
	}
	return unknownHeadroom * boost
}

// hostFlops exceeds the rate of any CPU core: two units of 16 FP32 multiply-adds each, at a clock
// that none reaches, times 16 for the matrix units of newer cores, which are for short types.
const hostFlops = 16 * 2 * 16 * 2 * 6.5e9

func hostFloor(device gpu.Identity, flops float64) float64 {
	if device.Units <= 0 {
		return 0
	}
	return flops / (hostFlops * float64(device.Units)) * 1e9
}
