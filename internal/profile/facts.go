package profile

// Facts are the quantities of one launch, under names that do not depend on the tool,
// its release or the GPU: dram_pct, registers, stall_long_scoreboard_pct. One that the
// tool did not measure is not there. Quantities lists them all.
type Facts map[string]float64
