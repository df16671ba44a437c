package gpu

// archTable returns the limits of each compute capability. Values common to all are set in limits; a row
// holds the differences.
func archTable() []Arch {
	var (
		upTo64  = []int{32, 64}
		upTo96  = []int{0, 8, 16, 32, 64, 96}
		upTo100 = []int{0, 8, 16, 32, 64, 100}
		upTo164 = []int{0, 8, 16, 32, 64, 100, 132, 164}
		upTo228 = []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}
	)
	return []Arch{
		limits("sm_70", "7.0", "Volta", row{fromGuide12, fromHeader, 2048, 32, 64, upTo96}),
		limits("sm_75", "7.5", "Turing", row{fromGuide, fromHeader, 1024, 16, 64, upTo64}),
		limits("sm_80", "8.0", "Ampere", row{fromGuide, fromHeader, 2048, 32, 64, upTo164}),
		limits("sm_86", "8.6", "Ampere", row{fromGuide, fromHeader, 1536, 16, 128, upTo100}),
		limits("sm_87", "8.7", "Ampere", row{fromGuide, fromHeader, 1536, 16, 128, upTo164}),
		limits("sm_88", "8.8", "Ampere", row{fromTraits, fromHeader13, 1536, 16, 128, upTo100}),
		limits("sm_89", "8.9", "Ada", row{fromGuide, fromHeader, 1536, 24, 128, upTo100}),
		limits("sm_90", "9.0", "Hopper", row{fromGuide, fromHeader, 2048, 32, 128, upTo228}),
		limits("sm_100", "10.0", "Blackwell", row{fromGuide, fromHeader13, 2048, 32, 128, upTo228}),
		limits("sm_103", "10.3", "Blackwell", row{fromGuide, fromHeader13, 2048, 32, 128, upTo228}),
		limits("sm_110", "11.0", "Blackwell", row{fromGuide, fromHeader13, 1536, 24, 128, upTo228}),
		limits("sm_120", "12.0", "Blackwell", row{fromGuide, fromHeader13, 1536, 24, 128, upTo100}),
		limits("sm_121", "12.1", "Blackwell", row{fromGuide, fromHeader13, 1536, 24, 128, upTo100}),
	}
}

// row holds the values that differ between architectures.
type row struct {
	guide, header Source
	threads       int // resident on an SM
	blocks        int // resident on an SM
	lanes         int // FP32 results per clock
	carveouts     []int
}

// limits fills in what follows from the generation. From Ampere on, the driver reserves 1 KB of every
// block, and shared memory is allocated in units of 128 bytes. From Hopper on, the formula counts
// barriers, two per block.
func limits(name, cc, generation string, r row) Arch {
	ampere, hopper := len(name) > len("sm_90") || name >= "sm_80", len(name) > len("sm_90") || name >= "sm_90"
	carveouts := make([]int, len(r.carveouts))
	for i, k := range r.carveouts {
		carveouts[i] = k * kib
	}
	most := carveouts[len(carveouts)-1]
	step := certain[int]
	if r.header == fromHeader13 {
		step = uncertain[int]
	}
	a := Arch{
		Name: name, ComputeCapability: cc, Generation: generation,
		ThreadsPerBlock:    certain(1024, r.guide),
		ThreadsPerSM:       certain(r.threads, r.guide),
		WarpsPerSM:         certain(r.threads/warpSize, r.guide),
		BlocksPerSM:        certain(r.blocks, r.guide),
		RegistersPerSM:     certain(64*kib, r.guide),
		RegistersPerBlock:  certain(64*kib, r.guide),
		RegistersPerThread: certain(255, r.guide),
		RegisterStep:       step(256, r.header),
		Partitions:         step(4, r.header),
		SharedPerSM:        certain(most, r.guide),
		SharedPerBlock:     certain(most, r.guide),
		SharedStatic:       certain(48*kib, r.guide),
		SharedReserved:     certain(0, r.guide),
		SharedStep:         step(256, r.header),
		Carveouts:          certain(carveouts, r.guide),
		FP32Lanes:          certain(r.lanes, fromThroughput),
	}
	if r.guide == fromTraits { // the header has neither of these; sm_88 is sm_86 in all that it has
		a.Carveouts.Certain, a.FP32Lanes.Certain = false, false
	}
	if ampere {
		a.SharedReserved.Value = 1 * kib
		a.SharedPerBlock.Value -= 1 * kib
		a.SharedStep.Value = 128
	}
	if hopper {
		a.Barriers = step(2*r.blocks, r.header)
	}
	return a
}
