package gpu

// RegisterBudget is the most registers a thread may have so that this many
// blocks of so many threads fit on an SM; 0 when none do, however few. Only
// registers are looked at.
func (a Arch) RegisterBudget(threads, blocks int) int {
	if threads < 1 || blocks < 1 || threads > a.ThreadsPerSM.Value || blocks > a.BlocksPerSM.Value {
		return 0
	}
	warps := blocks * divideUp(threads, warpSize)
	partitions, step := a.Partitions.Value, a.RegisterStep.Value
	perWarp := a.RegistersPerSM.Value / partitions / divideUp(warps, partitions) / step * step
	return min(perWarp/warpSize, a.RegistersPerThread.Value)
}

// SharedBudget is the most shared memory a block may ask for, static and dynamic
// together, so that this many blocks fit on an SM with this carve-out (0 for the
// largest); -1 when none do, however little. Only shared memory is looked at.
func (a Arch) SharedBudget(blocks, carveout int) int {
	if blocks < 1 || carveout < 0 || carveout > a.SharedPerSM.Value {
		return -1
	}
	sm := a.carveout(carveout)
	if blocks == 1 {
		sm = a.SharedPerSM.Value // one block gets what it asks for, whatever is preferred
	}
	step := a.SharedStep.Value
	budget := sm/blocks/step*step - a.SharedReserved.Value
	return max(-1, min(budget, a.SharedPerBlock.Value))
}
