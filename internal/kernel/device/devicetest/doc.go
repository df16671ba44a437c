// Package devicetest gives tests a machine with NVIDIA GPUs: a stub of NVIDIA's
// management library, compiled with the system's C compiler, that the real
// binding loads instead of the driver's. A file that the test writes and reads
// holds the state of its GPUs, so a test can slow a GPU down, deny a permission
// or kill the process in the middle of a call. A machine with AMD GPUs is a folder with
// the files of their driver.
//
// It imports testing: production code must not import it.
package devicetest
