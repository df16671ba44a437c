// Package e2e runs the pawl binary as its users do: real repositories, real
// builds, real harnesses, real kills. It has no code of its own beside its tests.
package e2e
