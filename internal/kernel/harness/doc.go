// Package harness runs the program that runs a kernel: it starts it, speaks the
// harness protocol with it (docs/reference/harness-protocol.md) and turns every
// failure into an error that says what the program was doing.
//
// A harness is user code, and a malicious change makes it hostile: every line it
// sends is bounded and checked, every wait has a limit, and the whole process
// group is killed with the session. The package knows processes and messages. It
// must not know rounds, sides, statistics or verdicts.
package harness
