package host

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// maxDepth bounds the walk up a process tree, should /proc show a cycle while
// processes come and go.
const maxDepth = 256

// Processes tells which processes belong to pawl.
type Processes struct {
	sys  System
	self int
}

// OpenProcesses reads process trees under root; self is pawl's own process.
func OpenProcesses(root fs.FS, self int) Processes { return Processes{System{root}, self} }

// Own reports whether pid is pawl or was started, directly or not, by it: the
// harness, its helpers, a compiler. A process this machine does not show, because
// it ended or lives in another container, is not.
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

// Name is the program a process runs, or empty where it is not visible here.
func (p Processes) Name(pid int) string {
	return p.sys.Text(fmt.Sprintf("proc/%d/comm", pid))
}

// parent reads the fourth field of /proc/PID/stat. The second is the program's
// name in parentheses and may hold anything, also parentheses and spaces.
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
