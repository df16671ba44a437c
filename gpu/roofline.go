package gpu

import "math"

// Peak returns the highest rate of a format, in TFLOPS, whatever it accumulates in. GeForce cards are
// twice as fast when accumulating in FP16; which one a kernel uses cannot be seen from outside.
func (c Card) Peak(d DType) Cell[float64] {
	peak := c.TFLOPS[d]
	if narrow := c.FP16AccumTFLOPS[d]; narrow.Known() && narrow.Value > peak.Value {
		return narrow
	}
	return peak
}

// Ridge returns the intensity (operations per byte of DRAM traffic) above which a kernel is limited by
// arithmetic instead of memory, or 0 if unknown.
func (c Card) Ridge(d DType) float64 {
	if !c.TFLOPS[d].Known() || !c.BandwidthGBs.Known() {
		return 0
	}
	return c.TFLOPS[d].Value * 1e12 / (c.BandwidthGBs.Value * 1e9)
}

// Attainable returns the roofline: the maximum rate, in TFLOPS, of a kernel with the given intensity.
func (c Card) Attainable(d DType, intensity float64) float64 {
	if !(intensity >= 0) {
		return 0
	}
	return min(c.TFLOPS[d].Value, intensity*c.BandwidthGBs.Value/1e3)
}

// Work is the work that one run of a case must do, as declared by its suite.
type Work struct {
	Flops float64
	Bytes float64 // total bytes to move
	Reads float64 // the part of Bytes that is read; 0 if unknown
	DType DType   // format of the Flops; empty if unknown
	Cold  bool    // none of the data is cached at the start
}

// Floor is the shortest possible time of a run.
type Floor struct {
	Seconds float64 `json:"seconds"` // the larger of Compute and Memory; 0 if unknown
	Compute float64 `json:"compute_seconds"`
	Memory  float64 `json:"memory_seconds"`
	Certain bool    `json:"certain"` // whether every figure used is certain
}

// Floor returns the speed-of-light time of a case on this card. It errs on the low side: a time below it
// is reported as impossible, so no possible time may be below it.
//
// Bytes count only for cold cases, because a warm cache has no such limit. Even in a cold case, written
// data may still be in the cache when the run ends, so writes up to the size of the caches are not counted.
// If reads are unknown, that size is subtracted from all bytes. Of a card whose L2 is unknown, only reads count.
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
		written := 0.0
		if c.L2MB.Known() {
			written = max(0, w.Bytes-reads-(c.L2MB.Value+c.L3MB.Value)*kib*kib)
		}
		f.Memory = (reads + written) / (c.BandwidthGBs.Value * 1e9)
		f.Certain = f.Certain && c.BandwidthGBs.Certain && (c.L2MB.Certain || written == 0)
	}
	f.Seconds = max(f.Compute, f.Memory)
	f.Certain = f.Certain && f.Seconds > 0
	return f
}

// amount reports whether v is a valid amount of work.
func amount(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
