// Package setup knows what a suite needs of a machine: programs, libraries of
// Python, a driver and its settings; which of it is there, why it is needed, and the
// exact command that would bring what is missing.
//
// Looking changes nothing. Only Run does, one command after the other, and only those
// that it is given: who calls it has shown them to a person, or was told not to.
//
// Whether a machine measures well is package doctor's question, and how a plan looks
// on a terminal is nobody's here.
package setup
