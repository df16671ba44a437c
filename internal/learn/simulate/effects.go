package simulate

// The numbers of the generator. Gains are logarithms of before over after. They are chosen
// from what fixes of kernels usually give (a few percent to three times), before any model
// was there, such that who knows all effects names the best fix in more than 92 % and who
// believes the rules in 45 to 60 %. Whoever changes one judges another thing: say so in
// docs/lab/learning.md and measure everything again.
const (
	// What a fix gains everywhere: its least and, on top, an exponential with this mean.
	effectLeast = 0.02
	effectMean  = 0.22

	// On top in the class its rule was written for, and in each other class.
	homeMean, homeSpread = 0.15, 0.10
	awayMean, awaySpread = -0.05, 0.12

	// In this share of the other classes it hurts, by so much.
	hurtShare           = 0.15
	hurtLeast, hurtMost = 0.15, 0.40

	gpuSpread = 0.07 // on top on each GPU

	kernelSpread = 0.08 // what all fixes of one kernel share
	ownSpread    = 0.02 // what is special to one fix on one kernel; nobody can know it

	// Of the 16 rules so many are plainly wrong, so many too optimistic, the others right
	// within a factor. Each session adds a factor of its own, as a share is read from a
	// profile.
	wrongRules                  = 3
	optimisticRules             = 5
	optimismLeast, optimismMost = 1.2, 2.0
	honestMost                  = 1.15
	beliefSpread                = 0.15
	leastBelief                 = 0.01

	// A measured gain has a standard error between these. Once in twenty it is off by a
	// normal error of five times that, and its standard error does not show it.
	errorLeast, errorMost = 0.01, 0.03
	tailShare, tailFactor = 0.05, 5

	misjudged = 0.06 // of the kernels are said to be of another class

	fewestCandidates, mostCandidates = 3, 6
	// Findings of the kernel's own class are so many times as likely as each other.
	homeWeight = 3

	follows  = 0.8 // of the attempts are the one recommended first
	attempts = 3   // of a session
)

// gpus are four that differ in what limits a kernel.
var gpus = []string{"sm_80", "sm_86", "sm_89", "sm_90"}

// classes are the bottlenecks that diagnose tells apart.
var classes = []string{"memory", "compute", "latency", "occupancy", "launch"}

// entry is a fix of a rule with the class of that rule.
type entry struct{ id, home string }

// catalogue is the first fix of 16 rules of internal/explain/diagnose/rules.
var catalogue = []entry{
	{"bank-conflicts/1", "memory"},
	{"uncoalesced-loads/1", "memory"},
	{"narrow-loads/1", "memory"},
	{"l2-misses/1", "memory"},
	{"tensor-idle/1", "compute"},
	{"non-fused/1", "compute"},
	{"divergence/1", "compute"},
	{"stall-long-scoreboard/1", "latency"},
	{"stall-barrier/1", "latency"},
	{"stall-wait/1", "latency"},
	{"occupancy-registers/1", "occupancy"},
	{"occupancy-shared/1", "occupancy"},
	{"spilling/1", "occupancy"},
	{"short-kernel/1", "launch"},
	{"small-grid/1", "launch"},
	{"tail-effect/1", "launch"},
}

// families are kernels by what they compute, with how often each class is what limits them,
// in the order of classes.
var families = []struct {
	name    string
	weights []float64
}{
	{"attention", []float64{2, 3, 2, 3, 1}},
	{"matmul", []float64{2, 4, 2, 2, 1}},
	{"reduction", []float64{5, 0, 2, 1, 2}},
	{"softmax", []float64{4, 1, 3, 1, 2}},
	{"convolution", []float64{3, 3, 2, 2, 1}},
	{"scan", []float64{2, 0, 4, 1, 3}},
}
