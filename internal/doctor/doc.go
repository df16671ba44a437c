// Package doctor says what pawl finds on this machine, what is missing, what
// disturbs a measurement, and how to mend each: one finding a question.
//
// It looks and changes nothing, but for two things that any run would do: it makes
// the lock folder where there is none, and it starts a harness that is built to hear
// whether it speaks the protocol. What it says comes from a file, a driver or a
// reply; where none of them tells, it says so and does not guess.
//
// Noise judges the other half: how much the same code differs from itself here, and
// so how small a change can be found. The numbers come from a run that bench made.
//
// How findings look on a terminal is not its business.
package doctor
