// Package host reads the CPU that pawl runs on: its name, cores and caches, the
// clock, temperature and load it has now, and which processes belong to pawl.
//
// It reads /proc and /sys through an fs.FS, so that a test can show it any
// machine. What a kernel does not tell stays empty: a virtual machine has no
// governor, a container no temperature. It changes nothing, and it knows nothing
// of GPUs, locks or rounds.
package host
