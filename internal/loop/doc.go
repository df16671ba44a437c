// Package loop is the state machine of a run: what to do next, and what the outcome
// means. It is pure. Next tells the action for a state, Apply makes the next state of an
// outcome; whoever carries the actions out, in this process or as a workflow over many
// machines, holds no rule of its own.
//
//	build -> preflight -> fuzz -> measure, look, measure, look ... -> confirm -> keep -> profile -> report -> tell
//
// A state is small and plain data, so that it survives a process: samples are
// looked at when they arrive, and only what they mean is kept. The package must not
// know how anything is built, measured, stored or said.
package loop
