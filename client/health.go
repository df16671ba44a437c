package client

import (
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// health summarizes the state of the device from its readings at the rounds.
func health(run *measure.Run, points []Point) Health {
	var sm, memory, power, load, calibration, noise []float64
	h := Health{Seconds: max(run.End.Seconds, 0), Dollars: max(run.End.Dollars, 0)}
	note := func(list *[]float64, v float64) {
		if v > 0 && finite(v) { // a device reports zero for an unknown value
			*list = append(*list, v)
		}
	}
	see := func(s *gpu.State) {
		if s == nil {
			return
		}
		h.TemperatureC = max(h.TemperatureC, s.TemperatureC)
		note(&sm, s.SMClockMHz)
		note(&memory, s.MemoryClockMHz)
		note(&power, s.PowerW)
		note(&load, s.Load1)
		for _, reason := range s.Reasons.Names() {
			if !slices.Contains(h.Reasons, reason) && len(h.Reasons) < maxList {
				h.Reasons = append(h.Reasons, reason)
			}
		}
	}
	for _, r := range run.Rounds {
		if r.Dropped != "" {
			h.Dropped++
		}
		for _, side := range r.Sides {
			see(side.After)
		}
	}
	for _, c := range run.Calibration {
		if len(c.Samples) > 0 {
			note(&calibration, stats.Median(c.Samples))
		}
	}
	for _, p := range points {
		if p.Rounds > 1 && p.Implementation == measure.Candidate {
			noise = append(noise, p.Spread)
		}
	}
	slices.Sort(h.Reasons)
	h.SMClockMHz, h.MemoryClockMHz, h.PowerW, h.Load1 = medianOrZero(sm), medianOrZero(memory), medianOrZero(power), medianOrZero(load)
	h.Calibration, h.Noise = medianOrZero(calibration), medianOrZero(noise)
	return h
}

func medianOrZero(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return stats.Median(list)
}
