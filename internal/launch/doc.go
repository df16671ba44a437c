// Package launch knows pawl's own launcher: a harness in C that loads the kernel of a
// change from a file (a cubin, an OpenCL program, a shared object) and launches it as
// the suite says, so that no host code of the change runs in the process that reads the
// clocks. The package compiles the launcher and says how it is started; the sources,
// in the folder source, do the rest.
//
// It must not know what a right result is, nor what a verdict is: it hands out samples,
// and the inputs and outputs of some of them.
package launch
