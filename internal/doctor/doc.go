// Package doctor reports what pawl finds on this machine, what is missing, what disturbs a
// measurement, and how to fix each: one finding per question.
//
// It changes nothing, with two exceptions that any run makes too: it creates the lock folder if there is
// none, and it starts a built harness to check that it speaks the protocol. Its findings come from a file, a
// driver or a reply; if none of them has the answer, it says so and does not guess.
//
// Noise answers the other half: how much the same code differs from itself on this machine, and so
// how small a change can be found. The numbers come from a run by bench.
//
// It must not know how findings look on a terminal.
package doctor
