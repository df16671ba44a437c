package measure

// Kernel is what a compiler made of a device function, for one architecture. It is
// known without running it.
type Kernel struct {
	Name   string `json:"name"`             // as people write it: "attention<64>"
	Symbol string `json:"symbol,omitempty"` // as the linker has it; empty where it is the name
	Arch   string `json:"arch"`             // "sm_89"

	Registers     int `json:"registers"`                // of a thread
	SharedBytes   int `json:"shared_bytes,omitempty"`   // static, of a block, without what the system reserves
	StackBytes    int `json:"stack_bytes,omitempty"`    // of a thread, with the functions it calls
	LocalBytes    int `json:"local_bytes,omitempty"`    // of a thread, beside its stack
	ConstantBytes int `json:"constant_bytes,omitempty"` // of all banks, parameters included
	Barriers      int `json:"barriers,omitempty"`       // of a block, where the compiler counts them
	MaxThreads    int `json:"max_threads,omitempty"`    // of a block, where the kernel is compiled for a bound

	// Spill is missing where nobody told: only the compiler's log has it.
	Spill   *Spill   `json:"spill,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // what the compiler said of it: losses it foresees
}

// Spill is how many bytes of registers a thread stores to memory and loads back,
// because there are too few; functions that are called and not inlined included.
type Spill struct {
	StoreBytes int `json:"store_bytes"`
	LoadBytes  int `json:"load_bytes"`
}

// CodeDigest identifies the machine code of one function, so that a change can be
// told from what only looks like one.
type CodeDigest struct {
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"` // "sm_89", or of the host: "x86-64"
	Digest string `json:"digest"`
}
