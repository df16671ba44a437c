package gpu

import "math"

// Peak is the most operations a second of a format, whatever it accumulates in.
// GeForce cards are twice as fast in FP16; which of the two a kernel uses is not
// known from outside.
func (c Card) Peak(d DType) Cell[float64] {
	peak := c.TFLOPS[d]
	if narrow := c.Narrow[d]; narrow.Known() && narrow.Value > peak.Value {
		return narrow
	}
	return peak
}

// Ridge is the intensity (operations for a byte of DRAM) from which on a kernel
// is limited by arithmetic and no longer by memory; 0 where it is not known.
func (c Card) Ridge(d DType) float64 {
	if !c.TFLOPS[d].Known() || c.BandwidthGBs.Value == 0 {
		return 0
	}
	return c.TFLOPS[d].Value * 1e12 / (c.BandwidthGBs.Value * 1e9)
}

// Attainable is the roofline: the operations a second (in TFLOPS) that a kernel
// of this intensity can reach at most.
func (c Card) Attainable(d DType, intensity float64) float64 {
	if !(intensity >= 0) {
		return 0
	}
	return min(c.TFLOPS[d].Value, intensity*c.BandwidthGBs.Value/1e3)
}

// Work is what one run of a case has to do, as its suite declares it.
type Work struct {
	Flops float64
	Bytes float64 // that it has to move
	Reads float64 // of Bytes, those it reads; 0 where that is not known
	DType DType   // what the Flops are in; empty where that is not known
	Cold  bool    // nothing of it is in the cache at the start
}

// Floor is the time below which no run can be.
type Floor struct {
	Seconds float64 `json:"seconds"` // the larger of the two; 0 where nothing is known
	Compute float64 `json:"compute_seconds"`
	Memory  float64 `json:"memory_seconds"`
	Certain bool    `json:"certain"` // every figure it rests on is
}

// Floor is the speed of light for a case on this card. It errs downwards: a time
// below it is called impossible, so that nothing possible may be.
//
// Bytes count only for cold cases, since a warm cache has no such limit. Even
// then what a run writes may still be in the cache when it ends, so as much of
// the writes as the L2 holds is left out; where reads and writes are not told
// apart, as much of all.
func (c Card) Floor(w Work) Floor {
	f := Floor{Certain: true}
	if peak := c.Peak(w.DType); peak.Known() && amount(w.Flops) {
		f.Compute = w.Flops / (peak.Value * 1e12)
		f.Certain = f.Certain && peak.Certain
	}
	if w.Cold && c.BandwidthGBs.Known() && amount(w.Bytes) {
		reads := 0.0
		if amount(w.Reads) {
			reads = min(w.Reads, w.Bytes)
		}
		written := max(0, w.Bytes-reads-c.L2MB.Value*kib*kib)
		f.Memory = (reads + written) / (c.BandwidthGBs.Value * 1e9)
		f.Certain = f.Certain && c.BandwidthGBs.Certain && c.L2MB.Certain
	}
	f.Seconds = max(f.Compute, f.Memory)
	f.Certain = f.Certain && f.Seconds > 0
	return f
}

// amount is a number that work can be.
func amount(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
