package measure

// Trust says how far the numbers of a run can be believed: what of the change ran
// in the process that read the clocks.
type Trust string

// The levels of trust, highest first.
const (
	// Checked: pawl's own launcher ran the kernel, and no host code of the change.
	Checked Trust = "checked"
	// Trusted: the base's harness ran it, and pawl's own clock outside agreed.
	Trusted Trust = "trusted"
	// SelfTimed: the change brought its own harness. Only the clock outside counts,
	// and no baseline moves.
	SelfTimed Trust = "self-timed"
	// TrustImported: the samples come from a file of another tool.
	TrustImported Trust = "imported"
)

// Outside is what a clock of pawl's own read of a case, from outside the process
// that ran it: a process can lie about its samples, not about when it answered.
type Outside struct {
	Clock Timer   `json:"clock"` // wall, or cpu for the CPU time of all its processes
	Runs  []int   `json:"runs"`  // back to back, between a request and its answer
	Times Samples `json:"ns"`    // that took so long
	// Beside are samples that the process itself took just before and just after each
	// reading. A machine changes its speed; neighbours in time saw the same one.
	Beside Samples `json:"beside_ns,omitempty"`
}

// Definition is what a run was measured with, where that is not simply the base's:
// harness, suite and tolerances of a change are not the change's to choose.
type Definition struct {
	Changed []string `json:"changed"`         // files and settings that differ from the base's
	Cases   []string `json:"cases,omitempty"` // that they concern; none means all
}
