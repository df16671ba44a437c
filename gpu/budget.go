package gpu

// RegisterBudget returns the maximum number of registers per thread at which the given number of blocks,
// with the given threads each, fits on an SM. It returns 0 if they never fit. It considers registers
// only.
func (a Arch) RegisterBudget(threads, blocks int) int {
	if threads < 1 || blocks < 1 || threads > a.ThreadsPerSM.Value || blocks > a.BlocksPerSM.Value {
		return 0
	}
	warps := blocks * divideUp(threads, a.WarpSize())
	partitions, step := a.Partitions.Value, a.RegisterStep.Value
	perWarp := a.RegistersPerSM.Value / partitions / divideUp(warps, partitions) / step * step
	return min(perWarp/a.WarpSize(), a.RegistersPerThread.Value)
}

// SharedBudget returns the maximum shared memory per block, static and dynamic together, at which the
// given number of blocks fits on an SM with the given carve-out (0 for the largest). It returns -1 if
// they never fit. It considers shared memory only.
func (a Arch) SharedBudget(blocks, carveout int) int {
	if blocks < 1 || carveout < 0 || carveout > a.SharedPerSM.Value {
		return -1
	}
	sm := a.carveout(carveout)
	if blocks == 1 {
		sm = a.SharedPerSM.Value // a single block gets what it needs, whatever the preference
	}
	step := a.SharedStep.Value
	budget := sm/blocks/step*step - a.SharedReserved.Value
	return max(-1, min(budget, a.SharedPerBlock.Value))
}
