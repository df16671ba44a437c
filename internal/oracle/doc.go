// Package oracle knows what a right result is: the rules by which an output is
// compared with what another process computed, the inputs that bring mistakes to
// light, the configs worth trying, how a failure is made small, and how it is
// remembered.
//
// It must not know how a kernel is built, timed or reported. Kernels and references
// are reached through two small interfaces, Subject and Reference; all randomness
// comes from seeds, so that every answer can be had again.
package oracle
