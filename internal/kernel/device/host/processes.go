package host

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// maxDepth bounds the walk up a process tree, in case /proc shows a cycle while
// processes start and end.
const maxDepth = 256

// Processes finds out which processes belong to pawl.
type Processes struct {
	sys  System
	self int
}

// OpenProcesses reads process trees under root; self is pawl's own PID.
func OpenProcesses(root fs.FS, self int) Processes { return Processes{System{root}, self} }

// Own reports whether pid is pawl or a descendant of it: the harness, its helpers, a
// compiler. It is false for a process that this machine does not show, because it
// ended or is in another container.
func (p Processes) Own(pid int) bool {
	for range maxDepth {
		switch {
		case pid == p.self:
			return true
		case pid <= 1:
			return false
		}
		pid = p.parent(pid)
	}
	return false
}

// Name returns the program that a process runs, or "" if it is not visible here.
func (p Processes) Name(pid int) string {
	return p.sys.Text(fmt.Sprintf("proc/%d/comm", pid))
}

// parent reads the fourth field of /proc/PID/stat. The second is the program's name
// in parentheses and may contain anything, including parentheses and spaces.
func (p Processes) parent(pid int) int {
	stat := p.sys.Text(fmt.Sprintf("proc/%d/stat", pid))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return ppid
}
