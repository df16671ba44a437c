// Package codeid identifies machine code function by function, so that people can be
// told what a change really changed: "only attention<64> changed; 11 others are the
// same machine code". Kernels are read from their cubins, host functions from a
// disassembly of the program.
//
// It explains and never decides: whether two builds are identical is a question of
// all files, and package build answers it.
package codeid
