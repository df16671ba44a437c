// Package loop is the state machine of a run: what to do next, and what the outcome
// means. It is pure. Next returns the action for a state, and Apply returns the next state
// after an outcome. Drivers that carry out the actions, in this process or as a workflow
// over many machines, contain no rules of their own.
//
//	build -> preflight -> fuzz -> measure, look, measure, look ... -> confirm -> keep -> profile -> report -> tell
//
// A state is small and plain data, so that it survives a process. Samples are evaluated
// when they arrive, and only the result is kept. The package must not know how anything
// is built, measured, stored or reported.
package loop
