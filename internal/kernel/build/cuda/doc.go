// Package cuda reads the output of the CUDA toolkit: resource usage from compiled files (cuobjdump)
// and from the assembler's log (ptxas -v), the machine code of each kernel from its cubin, and the
// names behind symbols. The compiled file is authoritative; only spills come from the log alone.
//
// The parsers are pure, and treat text and files as hostile. The package must not know suites, gates
// or what is good: it reports facts.
package cuda
