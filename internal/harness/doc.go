// Package harness talks to the program that runs a kernel: it starts it, speaks
// the harness protocol with it (docs/reference/harness-protocol.md) and turns
// whatever goes wrong into an error that says what the program was doing.
//
// A harness is the user's code, and under a hostile change it is hostile: every
// line it sends is bounded and checked, every wait has an end, and the whole
// process group dies with the session. The package knows processes and messages.
// It must not know rounds, sides, statistics or verdicts.
package harness
