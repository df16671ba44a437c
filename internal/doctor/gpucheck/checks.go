package gpucheck

import "context"

// check is one assumption of pawl.
type check struct {
	number int
	name   string
	pass   string // the criterion
	means  string // what a failure means for results
	// seconds is about how long it takes on a card. Facts of a group count for the first check that needs them.
	seconds int
	run     func(context.Context, *exam) (State, string)
}

// checks lists all checks, in the order in which they run.
var checks = []check{
	{1, "NVML getters", "no unexpected code; a state takes less than 10 ms", "states of rounds are incomplete, or reading them disturbs the round", 1, getters},
	{2, "NVML and CUDA agree", "the same UUID, multiprocessors and memory", "pawl may read the state of one card and measure on another", 2, agreement},
	{3, "the hardware table", "multiprocessors, L2 and shared memory are those of the table", "rooflines, plausibility and occupancy of this card are wrong", 0, table},
	{4, "occupancy", "200 launches as the driver computes them", "pawl's occupancy advice is wrong on this card", 0, occupancy},
	{5, "step of events", "one step of 1 ns to 2 us, the same in a session", "samples are shorter than the timer can resolve", 3, eventStep},
	{6, "step of globaltimer", "at most 1.1 us", "the SM clock that pawl measures is wrong, and check 8 too", 0, timerStep},
	{7, "an empty kernel", "the spread is at most one step of events", "short kernels carry noise that pawl does not know", 0, emptyKernel},
	{8, "a known time", "10 us to 100 ms within one step, an empty kernel and 1 %", "device times are wrong: no result of this card can be trusted", 0, knownTime},
	{9, "events and nsys", "within 3 us", "device times differ from the profiler's", 5, againstNsys},
	{10, "the SM clock", "pawl and NVML within 2 %", "time times clock misleads, and so does the cause \"clock or power\"", 3, smClock},
	{11, "the hold", "no time of the host in a sample", "samples contain launch time: short kernels look slow", 2, hold},
	{12, "the hold gives up", "after 0.2 to 0.6 s, and says so", "a stuck host hangs the run, or samples are thrown away for no reason", 0, giveUp},
	{13, "queue depth", "512 launches fit", "batches block in the middle and contain launch time", 0, queueDepth},
	{14, "cold bandwidth", "70 to 100 % of the table", "cold is not cold, or the table or the card is wrong", 3, coldRead},
	{15, "hot bandwidth", "a quarter of L2 more than 1.5 times as fast as cold", "hot is not hot: hot cases measure memory", 0, hotRead},
	{16, "persisting lines", "cold after the attack within 3 % of before", "a kernel can keep its inputs in the cache and look fast", 0, attackedRead},
	{17, "three ways to be cold", "launcher, pawl.h and Python within 3 %", "results of different harnesses cannot be compared", 0, threeWays},
	{18, "hot has one mode", "one mode in 101 samples", "medians jump between two values by chance", 3, hotModes},
	{19, "batches", "1, 8 and 64 launches agree within an empty kernel and a step", "samples of short kernels depend on the batch", 0, batches},
	{20, "FMA peak", "at most the table's at the measured clock", "the plausibility limit rejects honest results, or passes impossible ones", 0, fmaPeak},
	{21, "locked clocks", "base, maximum and a fixed clock are followed, or a reason says why not; then free again", "device.clocks has no effect, or stays behind after a run", 12, lockedClocks},
	{22, "killed while locked", "the next start restores the clocks", "a killed run leaves the card slow for everyone", 2, killedWhileLocked},
	{23, "clock reasons at start", "no hardware slowdown in 20 starts", "rounds are thrown away for a slowdown that is none", 10, startReasons},
	{24, "own processes", "none is called foreign", "pawl reports its own harness as another process on the card", 2, ownProcesses},
	{25, "an illegal address", "the case breaks, and the next is measured", "one bad kernel breaks every later case", 3, illegalAddress},
	{26, "refusals", "too much memory, too much shared memory, a wrong image: refused in words", "a kernel that cannot run crashes the run instead of breaking its case", 3, refusals},
	{27, "pawl's own kernels", "load", "checked and --gpu cannot run on this driver", 0, ownKernels},
	{28, "unusual kernels", "hidden pointers run; a tensor map that the suite does not describe is refused, one that it does runs", "Triton kernels crash, or are launched with garbage", 2, unusualKernels},
	{29, "profilers", "ncu and nsys see a planted kernel", "pawl profile has no data here", 10, profilers},
	{30, "the judge", "16 rounds: no false answer on the same code, 6 % found", "gates on this card are blind or wrong", 60, judge},
	{31, "turns of two contexts", "from the third sample of a turn on within 3 %", "sides that take turns disturb each other", 2, turns},
	{32, "10 s of load", "clock, power, temperature and energy are stored", "nothing is known of how this card throttles, and energy cannot be measured", 11, load},
}

// Names returns the names of all checks, in order.
func Names() []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}
