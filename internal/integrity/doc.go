// Package integrity says what of a measurement can be believed. It looks at what
// was recorded, and never at the process that was measured: a clock of pawl's own
// outside must agree with the samples, no time may lie below the speed of light, and
// what is too good to be true is for a person to accept.
//
// It is pure, so that whoever has the record comes to the same answer. It must not
// know how a process is run, nor what its results are checked against.
package integrity
