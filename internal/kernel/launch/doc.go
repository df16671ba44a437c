// Package launch builds pawl's own launcher: a harness in C that loads the kernel of a
// change from a file (a cubin, an OpenCL program, a shared object) and launches it as
// the suite says. No host code of the change then runs in the process that reads the
// clocks. The package compiles the launcher and says how to start it. The sources, in
// the folder source, do the rest.
//
// It must not know correct results or verdicts: it hands over samples, and the inputs
// and outputs of some of them.
package launch
