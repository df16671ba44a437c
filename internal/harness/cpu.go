package harness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is what the harness and everything it started in its process group have computed
// so far, read from outside: no process can tell the kernel another figure.
type CPU struct {
	Time time.Duration
	// Ended grows when a process that one of them started has ended and was waited for. What it
	// computed is in no Time any more.
	Ended int
}

// CPU reads it.
func (s *Session) CPU() (CPU, error) {
	group := s.process.cmd.Process.Pid // shell.Command makes it the leader of its own
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return CPU{}, fmt.Errorf("read the CPU time of harness %q: %w", s.command.Line, err)
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
		var ts unix.Timespec
		// The clock of another process: its number, inverted, and "all threads, scheduler time".
		if unix.ClockGettime(int32(^pid<<3|2), &ts) == nil {
			total.Time += time.Duration(ts.Nano())
			total.Ended += p.ended
			found = true
		}
	}
	if !found {
		return CPU{}, fmt.Errorf("read the CPU time of harness %q: none of its processes is there", s.command.Line)
	}
	return total, nil
}

// processStat is what the kernel says of one; nothing if it is gone.
type processStat struct {
	group int
	ended int // page faults of its children that it waited for: no process ends without any
}

// readProcess reads the line of a process. Its name stands in brackets and may hold
// anything.
func readProcess(pid int) (p processStat) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) > 8 {
		p.group, _ = strconv.Atoi(fields[2])
		p.ended, _ = strconv.Atoi(fields[8])
	}
	return p
}
