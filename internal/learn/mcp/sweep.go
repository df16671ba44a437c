package mcp

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// ownSession gives a command a session of its own: what it starts can change its group, as
// pawl's builds and harnesses do, and is still found by the session. Should the server be killed,
// the command ends itself as if it had been asked to.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// sweep ends whatever is left of a session. A process that made a session of its own is
// not found: that takes intent, and intent takes a sandbox. On a machine so busy that the
// killed do not come to die, the answer does not wait for them; the sweep goes on.
func sweep(session int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sweepAll(session)
	}()
	select {
	case <-done:
	case <-time.After(sweepTime):
	}
}

// sweepTime is how long an answer waits for a sweep.
const sweepTime = 250 * time.Millisecond

func sweepAll(session int) {
	for range 100 {
		left := members(session)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// members are the processes of a session that still run.
func members(session int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state parent group session ...: the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 3 && string(fields[3]) == strconv.Itoa(session) && string(fields[0]) != "Z" {
			out = append(out, pid)
		}
	}
	return out
}
