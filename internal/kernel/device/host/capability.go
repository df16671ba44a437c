package host

import (
	"strconv"
	"strings"
)

// Capability is a bit of the kernel's capability mask of a process.
type Capability int

// Capabilities that drivers check.
const (
	SysAdmin Capability = 21 // change settings of a driver
	PerfMon  Capability = 38 // read performance counters
)

// Capable reports whether this process has a capability. Drivers check the capability,
// not the user ID: root in a container usually lacks it, and in a user namespace it
// does not count.
func (s System) Capable(c Capability) bool {
	mask, err := strconv.ParseUint(Field(s.Text("proc/self/status"), "CapEff"), 16, 64)
	if err != nil || mask&(1<<c) == 0 {
		return false
	}
	users := strings.Fields(s.Text("proc/self/uid_map"))
	return len(users) < 3 || users[2] == "4294967295"
}

// Container reports whether this process runs in a container, as far as common
// container runtimes show it.
func (s System) Container() bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if f, err := s.Open(mark); err == nil {
			f.Close()
			return true
		}
	}
	return false
}
