package roofline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// roofSide is the roofline position of one side of a case, with the clock it was measured
// at.
type roofSide struct {
	intensity, rate float64
	dtype           gpu.DType
	clock           float64 // SM clock under the profiler in Hz; 0 if the time is from a run without a profiler
}

// sideOf computes the position of a side. Operations are those the suite declares, if the
// profile covers one launch: not all profilers count tensor core operations, and wasted
// work is not speed. Bytes are DRAM traffic. Time is from a run without a profiler if
// known, because a profiler lowers the clocks.
func sideOf(s diagnose.Subject) roofSide {
	facts := s.Facts
	out := roofSide{dtype: dtypeOf(facts)}
	flops, bytes, ns := facts["flops"], facts["dram_bytes"], facts["time_ns"]
	out.clock = facts["sm_clock_hz"]
	if p := s.Profile; p != nil && len(p.Launches) <= 1 {
		flops, bytes = cmp.Or(p.Subject.Flops, flops), cmp.Or(bytes, p.Subject.Bytes)
		if p.Subject.Nanoseconds > 0 {
			ns, out.clock = p.Subject.Nanoseconds, 0
		}
	}
	if bytes > 0 {
		out.intensity = flops / bytes
	}
	if ns > 0 {
		out.rate = flops / ns * 1e9
	}
	if flops == 0 {
		out.intensity, out.rate = facts["intensity"], facts["flops_per_s"]
	}
	return out
}

// dtypeOf returns the data type that does most of the work. Tensor core formats are not
// counted, so it assumes FP16, the most common one.
func dtypeOf(f profile.Facts) gpu.DType {
	flops := f["flops"]
	switch {
	case f["flops_tensor"] > flops/2, f["pipe_tensor_pct"] > max(f["pipe_fma_pct"], f["pipe_fp64_pct"], 5):
		return gpu.FP16
	case f["flops_fp64"] > flops/2, f["pipe_fp64_pct"] > max(f["pipe_fma_pct"], 5):
		return gpu.FP64
	default:
		return gpu.FP32
	}
}

// cardOf returns the card of a device; zero if it is not known.
func cardOf(s diagnose.Subject) gpu.Card {
	if s.Card == nil {
		return gpu.Card{}
	}
	return *s.Card
}

// ceilingName distinguishes tensor cores from other arithmetic: a kernel that does not use
// them cannot reach their peak.
func ceilingName(d gpu.DType, card gpu.Card) string {
	name := strings.ToUpper(string(d))
	if d == gpu.FP32 || d == gpu.FP64 && !card.FP64Tensor {
		return name
	}
	return name + " tensor"
}

// ceilings adds the limits of the side. If the time is from a profiler, they are scaled to
// its clocks: a profiled kernel cannot reach the card's published figures.
func (s roofSide) ceilings(r *Roof, seen diagnose.Subject) {
	card, scaled := cardOf(seen), false
	if s.clock > 0 && card.BoostMHz.Known() {
		scaled = s.clock < 0.995e6*float64(card.BoostMHz.Value)
		card = card.At(s.clock / 1e6)
	}
	for _, d := range []gpu.DType{s.dtype, gpu.FP32} {
		ceiling(&r.Compute, ceilingName(d, card), card.Peak(d).Value*1e12)
	}
	ceiling(&r.Compute, "FP32", seen.Facts["peak_fp32_flops_per_s"])
	if s.clock > 0 {
		ceiling(&r.Memory, "DRAM", seen.Facts["dram_peak_bytes_per_s"])
	}
	ceiling(&r.Memory, "DRAM", card.BandwidthGBs.Value*1e9)
	ceiling(&r.Memory, "DRAM", seen.Facts["dram_peak_bytes_per_s"])
	if scaled && len(r.Notes) == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Time and ceilings are at %.0f MHz, the clock under the profiler.", s.clock/1e6))
	}
}

// deviceName returns the device that was profiled.
func deviceName(s diagnose.Subject) string {
	if s.Profile != nil && s.Profile.Subject.Device.Name != "" {
		return words.SanitizeTo(s.Profile.Subject.Device.Name, words.NameLength)
	}
	if s.Card != nil {
		return s.Card.Name
	}
	return ""
}
