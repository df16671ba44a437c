// Package host reads the CPU that pawl runs on: its name, cores and caches, its
// current clock, temperature and load, and which processes belong to pawl.
//
// It reads /proc and /sys through an fs.FS, so that a test can simulate any
// machine. Values that the kernel does not report stay empty: a virtual machine has
// no governor, a container no temperature. The package changes nothing, and it knows
// nothing of GPUs, locks or rounds.
package host
