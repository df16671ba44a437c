package gpu

// rates returns the dense operations per clock of one SM or compute unit, by format. A fused multiply-add is
// two operations. Tensor rates are those of cards that do not halve them when accumulating in FP32.
//
// The rates come from the whitepapers that cards.txt cites: NVIDIA states multiply-adds per tensor core and
// clock, AMD operations per compute unit and clock. FP64 is the rate of the tensor cores where they have one.
// A format without a documented rate is left out.
func rates(arch string) map[DType]float64 {
	switch arch {
	case "sm_70":
		return map[DType]float64{FP64: 64, FP32: 128, FP16: 1024}
	case "sm_75":
		return map[DType]float64{FP64: 4, FP32: 128, FP16: 1024, INT8: 2048}
	case "sm_80":
		return map[DType]float64{FP64: 128, FP32: 128, TF32: 1024, FP16: 2048, BF16: 2048, INT8: 4096}
	case "sm_86":
		return map[DType]float64{FP64: 4, FP32: 256, TF32: 512, FP16: 1024, BF16: 1024, INT8: 2048}
	case "sm_89":
		return map[DType]float64{FP64: 4, FP32: 256, TF32: 512, FP16: 1024, BF16: 1024, FP8: 2048, INT8: 2048}
	case "sm_90":
		return map[DType]float64{FP64: 256, FP32: 256, TF32: 2048, FP16: 4096, BF16: 4096, FP8: 8192, INT8: 8192}
	case "sm_100":
		return map[DType]float64{FP32: 256, TF32: 4096, FP16: 8192, BF16: 8192, FP8: 16384, FP4: 32768, INT8: 16384}
	case "sm_103":
		return map[DType]float64{FP32: 256, TF32: 4096, FP16: 8192, BF16: 8192, FP8: 16384}
	case "sm_120":
		return map[DType]float64{FP64: 4, FP32: 256, TF32: 512, FP16: 1024, BF16: 1024, FP8: 2048, FP4: 4096, INT8: 2048}
	case "gfx908":
		return map[DType]float64{FP64: 64, FP32: 128, FP16: 1024, BF16: 512, INT8: 1024}
	case "gfx90a":
		return map[DType]float64{FP64: 256, FP32: 256, FP16: 1024, BF16: 1024, INT8: 1024}
	case "gfx942":
		return map[DType]float64{FP64: 256, FP32: 256, TF32: 1024, FP16: 2048, BF16: 2048, FP8: 4096, INT8: 4096}
	case "gfx950":
		return map[DType]float64{FP64: 128, FP32: 256, FP16: 4096, BF16: 4096, FP8: 8192, FP4: 16384, INT8: 8192}
	case "gfx1100":
		return map[DType]float64{FP32: 256, FP16: 512, BF16: 512, INT8: 512}
	case "gfx1201":
		return map[DType]float64{FP32: 256, FP16: 1024, BF16: 1024, FP8: 2048, INT8: 2048}
	default:
		return nil
	}
}

// clockOf returns the clock at which the peak of a format is stated. FP64 is stated at the boost clock also
// where it is that of the tensor cores.
func (c Card) clockOf(d DType) Cell[int] {
	if d != FP32 && d != FP64 && c.TensorMHz.Known() {
		return c.TensorMHz
	}
	return c.BoostMHz
}

// derivedPeak returns the peak that follows from SMs, rate and clock, or an unknown cell.
func (c Card) derivedPeak(d DType) Cell[float64] {
	rate, clock := rates(c.Arch)[d], c.clockOf(d)
	if arch, err := FindArch(c.Arch); rate == 0 && d == FP32 && err == nil {
		rate = 2 * float64(arch.FP32Lanes.Value)
	}
	if rate == 0 || !c.SMs.Known() || !clock.Known() {
		return Cell[float64]{}
	}
	value := float64(c.SMs.Value) * rate * float64(clock.Value) / 1e6
	return Cell[float64]{Value: value, Source: fromArithmetic, Certain: c.SMs.Certain && clock.Certain}
}

// derivedBandwidth returns the bandwidth that follows from the width of the bus and the data rate.
func (c Card) derivedBandwidth() Cell[float64] {
	if !c.BusBits.Known() || !c.PinGbps.Known() {
		return Cell[float64]{}
	}
	return Cell[float64]{
		Value: float64(c.BusBits.Value) * c.PinGbps.Value / 8, Source: fromArithmetic,
		Certain: c.BusBits.Certain && c.PinGbps.Certain,
	}
}

// At returns the card with its peaks at another clock. A card whose clock is unknown is returned unchanged.
func (c Card) At(mhz float64) Card {
	if !(mhz > 0) || !c.BoostMHz.Known() {
		return c
	}
	scaled := func(peaks map[DType]Cell[float64]) map[DType]Cell[float64] {
		out := make(map[DType]Cell[float64], len(peaks))
		for d, peak := range peaks {
			peak.Value *= mhz / float64(c.clockOf(d).Value)
			out[d] = peak
		}
		return out
	}
	at := c
	at.TFLOPS, at.FP16AccumTFLOPS = scaled(c.TFLOPS), scaled(c.FP16AccumTFLOPS)
	at.BoostMHz.Value = int(mhz)
	if at.TensorMHz.Known() {
		at.TensorMHz.Value = int(mhz)
	}
	return at
}

// Fastest returns the highest peak over all formats, or an unknown cell if a format of the architecture has
// none. If the peak is uncertain, but SMs, clock and the rates of the architecture are certain, it returns
// the peak that follows from these instead: no card exceeds it.
func (c Card) Fastest() Cell[float64] {
	var stated, derived Cell[float64]
	known := rates(c.Arch)
	for _, d := range DTypes() {
		peak, follows := c.Peak(d), c.derivedPeak(d)
		if known[d] > 0 && !peak.Known() && !follows.Known() || known == nil {
			return Cell[float64]{}
		}
		if !peak.Known() {
			peak = follows
		}
		stated, derived = higher(stated, peak), higher(derived, follows)
	}
	if !stated.Certain && derived.Certain && derived.Value >= stated.Value {
		return derived
	}
	return stated
}

func higher(a, b Cell[float64]) Cell[float64] {
	if b.Known() && b.Value > a.Value {
		return b
	}
	return a
}
