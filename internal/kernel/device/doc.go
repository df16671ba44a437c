// Package device manages the devices of this machine: it lists them, reads their
// state, locks them for one run, and holds their clocks during a run.
//
// Only one run at a time measures on a device. Acquire takes a lock that all users of
// the machine share, and reports its holder. A slice of a GPU under MIG locks the
// whole card, because slices share clocks and power.
//
// A lease undoes its changes, even after a crash. Before the first change it writes a
// note of what to undo. Release undoes it and removes the note. If a process died, the
// next Acquire finds its note and undoes its changes first. Only readable settings can
// be restored: persistence mode has a getter and returns to its old value, but no
// driver reports which clocks were locked before. Undoing a clock lock therefore
// means freeing the clocks. If the clocks of a machine are permanently locked,
// measure with the policy "free": pawl then changes nothing.
//
// The packages below read the devices: nvidia (through nvml, its library, or smi, the
// program nvidia-smi), amd (through the files of its driver) and host (the CPU). Another vendor is a package that has a
// vendor.Vendor, and a line in the list of vendors. This package must not know suites, harnesses or
// rounds, and it judges nothing: it returns data.
package device
