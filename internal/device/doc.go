// Package device knows the devices of this machine as they are now: which there
// are, what state they are in, who measures on them, and how to hold their clocks
// still while a run lasts.
//
// A device is measured by one run at a time. Acquire takes a lock that all users
// of the machine share and tells who holds it; a slice of a GPU under MIG locks
// the whole card, because slices share clocks and power.
//
// What a lease changes it undoes, also after a crash. Before the first change it
// writes down what to undo; Release undoes it and removes the note; and whoever
// acquires the device next finds the note of a process that died and undoes it
// first. What can be undone is limited by what can be read: persistence mode has a
// getter and goes back to what it was, but no driver tells which clocks were
// locked before. Undoing a lock therefore means freeing the clocks. An owner who
// keeps the clocks of a machine locked for good should measure with the policy
// "free": pawl then changes nothing.
//
// How devices are read is the business of the packages below: nvml (NVIDIA's
// library), smi (the program nvidia-smi) and host (the CPU). This package must not
// know suites, harnesses or rounds, and it judges nothing: it hands over data.
package device
