package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/diagnose"
	"github.com/goatnote-inc/pawl/internal/profile"
)

// roofSide is where one side of a case stands, and by whose clock.
type roofSide struct {
	intensity, rate float64
	dtype           gpu.DType
	clock           float64 // of the SMs under the profiler; 0 where the time is of a run without one
}

// sideOf works out a side. Operations are those that the suite declares, where the
// profile is of one launch: profilers do not count those of tensor cores everywhere, and
// what a kernel does in vain is no speed. Bytes are those that DRAM moved. Time is the
// one without a profiler, where it is known: a profiler holds the clocks down.
func sideOf(s diagnose.Seen) roofSide {
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

// dtypeOf is the kind of arithmetic that does most of the work. Which format a tensor
// core works in is not counted: FP16 is the most common.
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

// under is the name of the ceiling that counts for the side.
func (s roofSide) under(card *gpu.Card) string {
	if card == nil {
		return ceilingName(s.dtype, gpu.Card{})
	}
	return ceilingName(s.dtype, *card)
}

// ceilingName tells tensor cores from other arithmetic: a kernel that does not use them
// cannot reach what they can.
func ceilingName(d gpu.DType, card gpu.Card) string {
	name := strings.ToUpper(string(d))
	if d == gpu.FP32 || d == gpu.FP64 && !card.FP64Tensor {
		return name
	}
	return name + " tensor"
}

// ceilings adds what limits the side. Where the time is a profiler's, they are those of
// the clocks it held: a kernel under it cannot reach what the card is sold with.
func (s roofSide) ceilings(r *Roofline, seen diagnose.Seen) {
	facts := seen.Facts
	share := 1.0
	if c := seen.Card; c != nil {
		if s.clock > 0 && c.BoostMHz.Known() {
			share = min(s.clock/(float64(c.BoostMHz.Value)*1e6), 1)
		}
		for _, d := range []gpu.DType{s.dtype, gpu.FP32} {
			ceiling(&r.Compute, ceilingName(d, *c), c.Peak(d).Value*1e12*share)
		}
		if s.clock == 0 {
			ceiling(&r.Memory, "DRAM", c.BandwidthGBs.Value*1e9)
		}
	}
	ceiling(&r.Compute, "FP32", facts["peak_fp32_flops_per_s"])
	ceiling(&r.Memory, "DRAM", facts["dram_peak_bytes_per_s"])
	if seen.Card != nil {
		ceiling(&r.Memory, "DRAM", seen.Card.BandwidthGBs.Value*1e9)
	}
	if share < 0.995 && len(r.Notes) == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Time and ceilings are at %.0f MHz, the clock under the profiler.", s.clock/1e6))
	}
}

// deviceName is what the profile is of.
func deviceName(s diagnose.Seen) string {
	if s.Profile != nil && s.Profile.Subject.Device.Name != "" {
		return plain(s.Profile.Subject.Device.Name, nameLength)
	}
	if s.Card != nil {
		return s.Card.Name
	}
	return ""
}
