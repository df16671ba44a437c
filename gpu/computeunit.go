package gpu

import "strings"

// waveSize is the number of threads in a wave of the CDNA architectures.
const waveSize = 64

// ComputeUnits returns the architectures of AMD whose limits are known, oldest first. An SM is a compute unit there, a
// warp a wave, a partition a SIMD, and shared memory LDS. The registers of a thread are those for vectors and those
// for matrices together. LDS has one size: there is no carve-out.
func ComputeUnits() []Arch {
	cdna4 := computeUnit("gfx950", "CDNA 4", 160*kib)
	cdna4.SharedStep = uncertain(1280, fromLLVM) // 320 words
	return []Arch{computeUnit("gfx90a", "CDNA 2", 64*kib), computeUnit("gfx942", "CDNA 3", 64*kib), cdna4}
}

// FindAnyArch is FindArch for the architectures of NVIDIA and of AMD.
func FindAnyArch(name string) (Arch, error) {
	for _, a := range ComputeUnits() {
		if strings.EqualFold(a.Name, strings.TrimSpace(name)) {
			return a, nil
		}
	}
	return FindArch(name)
}

// WarpSize returns the number of threads in a warp, or in a wave of AMD.
func (a Arch) WarpSize() int {
	if strings.HasPrefix(a.Name, "gfx") {
		return waveSize
	}
	return warpSize
}

// computeUnit fills in what is the same since CDNA 2: four SIMDs with 8 waves and 512 registers for each lane. A limit
// on blocks of several waves, 16, is never reached before that on waves.
func computeUnit(name, generation string, lds int) Arch {
	const waves, registers = 4 * 8, 4 * 512 * waveSize
	return Arch{
		Name: name, ComputeCapability: name, Generation: generation,
		ThreadsPerBlock:    certain(1024, fromROCm),
		ThreadsPerSM:       certain(waves*waveSize, fromROCm),
		WarpsPerSM:         certain(waves, fromROCm),
		BlocksPerSM:        certain(waves, fromLLVM),
		RegistersPerSM:     certain(registers, fromROCm),
		RegistersPerBlock:  certain(registers, fromROCm),
		RegistersPerThread: certain(512, fromLLVM),
		RegisterStep:       certain(8*waveSize, fromLLVM),
		Partitions:         certain(4, fromROCm),
		SharedPerSM:        certain(lds, fromROCm),
		SharedPerBlock:     certain(lds, fromROCm),
		SharedStatic:       certain(lds, fromROCm),
		SharedReserved:     certain(0, fromLLVM),
		SharedStep:         certain(512, fromLLVM),
		Carveouts:          certain([]int{lds}, fromROCm),
		FP32Lanes:          certain(int(rates(name)[FP32])/2, fromArithmetic),
	}
}
