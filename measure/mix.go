package measure

// Mix is what the machine code of a function consists of. It is counted in the code,
// not in a run: what stands in a loop counts once, and once more in InLoops.
type Mix struct {
	Instructions int        `json:"instructions"`
	InLoops      int        `json:"in_loops,omitempty"`
	Counts       []MixCount `json:"counts"` // by class, then bytes
}

// MixCount is how many instructions there are of one kind.
type MixCount struct {
	Class   string `json:"class"`           // "load global", "fma32", "vector", ...
	Bytes   int    `json:"bytes,omitempty"` // that one of them moves or works on, for a thread; 0 where that says nothing
	Count   int    `json:"count"`
	InLoops int    `json:"in_loops,omitempty"`
}
