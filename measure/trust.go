package measure

// Trust is how far the numbers of a run can be trusted. It depends on which code of the change ran in the
// process that read the clocks.
type Trust string

// The levels of trust, highest first.
const (
	// Checked means that pawl's own launcher ran the kernel, without host code of the change.
	Checked Trust = "checked"
	// Trusted means that the base's harness ran the kernel, and pawl's outside clock agreed.
	Trusted Trust = "trusted"
	// SelfTimed means that the change supplied its own harness. Only the outside clock counts, and no
	// baseline moves.
	SelfTimed Trust = "self-timed"
	// TrustImported means that the samples come from a file of another tool.
	TrustImported Trust = "imported"
)

// OutsideTiming holds readings of a case by pawl's own clock, outside the process that ran it. A process can
// report false samples, but not a false time of its answer.
type OutsideTiming struct {
	Clock Timer   `json:"clock"` // wall, or cpu for the CPU time of all processes of the side
	Runs  []int   `json:"runs"`  // number of back-to-back runs between each request and its answer
	Times Samples `json:"ns"`    // duration of each of these batches
	// Adjacent holds samples that the process itself took just before and after each reading. A machine
	// changes its speed; samples close in time see the same speed.
	Adjacent Samples `json:"beside_ns,omitempty"`
}

// Definition lists how the definition used for a run differs from the base's. A change may not choose its
// own harness, suite and tolerances.
type Definition struct {
	Changed []string `json:"changed"`         // files and settings that differ from the base
	Cases   []string `json:"cases,omitempty"` // affected cases; empty means all
}
