// Package codeid identifies machine code function by function, to show what a change really changed:
// "only attention<64> changed; 11 others are the same machine code". It reads kernels from their
// cubins, and host functions from a disassembly of the program.
//
// It explains and never decides: whether a case can have changed depends on everything that it reads, which packages
// affected and reach know.
package codeid
