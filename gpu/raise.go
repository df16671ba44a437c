package gpu

import (
	"fmt"
	"slices"
)

// OccupancyOption is one way to raise occupancy: a launch to try, and its result. Everything that Text does not
// mention stays unchanged.
type OccupancyOption struct {
	Text      string  `json:"text"`
	Launch    Launch  `json:"launch"`
	Blocks    int     `json:"blocks_per_sm"`
	Occupancy float64 `json:"occupancy"`
}

// occupancyOptions returns the ways to raise occupancy: one more block, as many blocks as the warps allow, and
// another block size.
func (a Arch) occupancyOptions(o Occupancy) []OccupancyOption {
	var list []OccupancyOption
	add := func(text string, l Launch) {
		with := a.occupy(l)
		better := with.BlocksPerSM > 0 && with.Occupancy > o.Occupancy
		if !better || slices.ContainsFunc(list, func(r OccupancyOption) bool { return r.Launch == l }) {
			return
		}
		list = append(list, OccupancyOption{
			Text:   fmt.Sprintf("%s would allow %s", text, blocksText(with, o.Launch.Threads != l.Threads)),
			Launch: l, Blocks: with.BlocksPerSM, Occupancy: with.Occupancy,
		})
	}
	top := a.maxBlocks(o)
	for _, target := range []int{o.BlocksPerSM + 1, top} {
		if target <= o.BlocksPerSM || target > top {
			continue
		}
		for _, step := range a.steps(o, target) {
			add(step.text, step.launch)
		}
	}
	if threads := a.betterThreads(o); threads > 0 {
		l := o.Launch
		l.Threads = threads
		add(fmt.Sprintf("%d threads per block", threads), l)
	}
	return list
}

func blocksText(o Occupancy, otherThreads bool) string {
	text := fmt.Sprintf("%d blocks", o.BlocksPerSM)
	if o.BlocksPerSM == 1 {
		text = "1 block"
	}
	if otherThreads {
		text += fmt.Sprintf(" (%d warps)", o.WarpsPerSM)
	}
	return text
}

// maxBlocks returns the number of blocks that would fit if registers and shared memory were unlimited.
func (a Arch) maxBlocks(o Occupancy) int {
	top := o.BlocksPerSM
	for i, r := range []Resource{LimitBlocks, LimitWarps, LimitBarriers} {
		if n, ok := o.Limit(r); ok && (i == 0 || n < top) {
			top = n
		}
	}
	return top
}

type change struct {
	text   string
	launch Launch
}

// steps returns the ways to reach target blocks: fewer registers if they are short, and either a larger
// carve-out or less shared memory.
func (a Arch) steps(o Occupancy, target int) []change {
	base := change{launch: o.Launch}
	if n, ok := o.Limit(LimitRegisters); ok && n < target {
		budget := a.RegisterBudget(o.Launch.Threads, target)
		if budget == 0 {
			return nil
		}
		base = base.and(fmt.Sprintf("%d registers or fewer", budget))
		base.launch.Registers = budget
	}
	n, ok := o.Limit(LimitShared)
	if !ok || n >= target {
		return []change{base}
	}
	return a.sharedSteps(o, base, n, target)
}

func (a Arch) sharedSteps(o Occupancy, base change, n, target int) []change {
	l := o.Launch
	if l.StaticShared > a.SharedStatic.Value && l.StaticShared+l.DynamicShared <= a.SharedBudget(target, l.Carveout) {
		dynamic := base.and("dynamic shared memory instead of static")
		dynamic.launch.StaticShared, dynamic.launch.DynamicShared = 0, l.StaticShared+l.DynamicShared
		return []change{dynamic}
	}
	var list []change
	for _, carveout := range a.Carveouts.Value {
		if n > 0 && carveout > o.SharedPerSM && carveout/o.SharedPerBlock >= target {
			larger := base.and("a carve-out of " + bytesText(carveout))
			larger.launch.Carveout = carveout
			list = append(list, larger)
			break
		}
	}
	budget := a.SharedBudget(target, l.Carveout)
	if budget < 0 {
		return list
	}
	less := base.and(bytesText(budget) + " of shared memory or less per block")
	less.launch.StaticShared = min(l.StaticShared, budget, a.SharedStatic.Value)
	less.launch.DynamicShared = budget - less.launch.StaticShared
	return append(list, less)
}

func (c change) and(text string) change {
	if c.text != "" {
		text = c.text + " and " + text
	}
	return change{text, c.launch}
}

// betterThreads returns the block size with the highest occupancy, with the other needs of a block
// unchanged; of equal ones, the size nearest to the current one. It returns 0 if none is better.
func (a Arch) betterThreads(o Occupancy) int {
	best, most := 0, o.Occupancy
	for threads := a.WarpSize(); threads <= a.ThreadsPerBlock.Value; threads += a.WarpSize() {
		l := o.Launch
		l.Threads = threads
		with := a.occupy(l).Occupancy
		if with > most || with == most && best > 0 && distance(threads, o.Launch.Threads) < distance(best, o.Launch.Threads) {
			best, most = threads, with
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }
