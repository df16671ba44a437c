// Package cuda reads what the CUDA toolkit makes and says: resource usage from
// compiled files (cuobjdump) and from the assembler's log (ptxas -v), the machine code
// of each kernel from its cubin, and the names behind symbols. The compiled file is
// the authority; only spills are told by the log alone.
//
// The readers are pure, and take text and files to be hostile. The package must not
// know suites, gates or what is good: it says what is there.
package cuda
