// Package setup determines what a suite needs of a machine: programs, Python libraries, a driver
// and its settings. It reports which of it is present, why it is needed, and the exact command that
// installs what is missing.
//
// Look changes nothing. Only Run does, one command after the other, and only the given ones: its
// caller has shown them to the user, or was told not to.
//
// It must not know whether a machine measures well (doctor does), nor how a plan looks on a terminal.
package setup
