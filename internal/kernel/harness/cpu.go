package harness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU is the CPU time used so far by the harness and all processes in its process group.
// It is read from the operating system, so that a process cannot fake it.
type CPU struct {
	Time time.Duration
	// Ended grows when a child of one of the processes has ended and was waited for. Time
	// no longer includes the CPU time of that child.
	Ended int
}

// CPU reads the CPU time of the harness and its process group.
func (s *Session) CPU() (CPU, error) {
	group := s.process.cmd.Process.Pid // shell.Command makes it the leader of its own group
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return CPU{}, fmt.Errorf("cannot read the CPU time of harness %q: %w", s.command.Line, err)
	}
	var total CPU
	found := false
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p := readProcess(pid)
		if p.group != group {
			continue
		}
		if used, ok := cpuTime(pid); ok {
			total.Time += used
			total.Ended += p.ended
			found = true
		}
	}
	if !found {
		return CPU{}, fmt.Errorf("cannot read the CPU time of harness %q: none of its processes was found", s.command.Line)
	}
	return total, nil
}

// processStat holds fields of /proc/PID/stat. It is zero if the process is gone.
type processStat struct {
	group int
	ended int           // page faults of children it waited for: no process ends without any
	spent time.Duration // CPU time of children it waited for, in steps of 10 ms
}

// tick is the unit of CPU time in /proc.
const tick = 10 * time.Millisecond

// readProcess reads /proc/PID/stat. The process name is in parentheses and may contain
// anything.
func readProcess(pid int) (p processStat) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) > 14 {
		p.group, _ = strconv.Atoi(fields[2])
		p.ended, _ = strconv.Atoi(fields[8])
		user, _ := strconv.Atoi(fields[13])
		system, _ := strconv.Atoi(fields[14])
		p.spent = time.Duration(user+system) * tick
	}
	return p
}
