package measure

// Kernel describes a compiled device function for one architecture. All of it is known without running
// the kernel.
type Kernel struct {
	Name   string `json:"name"`             // as people write it: "attention<64>"
	Symbol string `json:"symbol,omitempty"` // linker symbol; empty if equal to the name
	Arch   string `json:"arch"`             // "sm_89"

	Registers     int `json:"registers"`                // per thread
	SharedBytes   int `json:"shared_bytes,omitempty"`   // static, per block, without what the system reserves
	StackBytes    int `json:"stack_bytes,omitempty"`    // per thread, including called functions
	LocalBytes    int `json:"local_bytes,omitempty"`    // per thread, in addition to its stack
	ConstantBytes int `json:"constant_bytes,omitempty"` // all banks, including parameters
	Barriers      int `json:"barriers,omitempty"`       // per block, if the compiler counts them
	MaxThreads    int `json:"max_threads,omitempty"`    // per block, if the kernel is compiled with a bound

	// Spill is nil if unknown: only the compiler's log contains it.
	Spill   *Spill   `json:"spill,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // compiler remarks on expected performance losses
}

// Spill is the number of bytes per thread that are stored to memory and loaded back because registers run
// short. It includes called functions that are not inlined.
type Spill struct {
	StoreBytes int `json:"store_bytes"`
	LoadBytes  int `json:"load_bytes"`
}

// CodeDigest identifies the machine code of one function, to distinguish real changes from apparent ones.
type CodeDigest struct {
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"` // "sm_89", or of the host: "x86-64"
	Digest string `json:"digest"`
}
