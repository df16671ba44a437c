package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is what the harness and everything it started in its process group have
// computed so far, read from outside: no process can tell the kernel another figure.
func (s *Session) CPUTime() (time.Duration, error) {
	group := s.process.cmd.Process.Pid // shell.Command makes it the leader of its own
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of harness %q: %w", s.command.Line, err)
	}
	var total time.Duration
	found := false
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || processGroup(pid) != group {
			continue
		}
		var ts unix.Timespec
		// The clock of another process: its number, inverted, and "all threads, scheduler time".
		if unix.ClockGettime(int32(^pid<<3|2), &ts) == nil {
			total += time.Duration(ts.Nano())
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("read the CPU time of harness %q: none of its processes is there", s.command.Line)
	}
	return total, nil
}

// processGroup of a process; 0 if it is gone. Its name stands in brackets and may
// hold anything.
func processGroup(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 3 {
		return 0
	}
	group, _ := strconv.Atoi(fields[2])
	return group
}
