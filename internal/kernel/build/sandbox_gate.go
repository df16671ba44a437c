package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// startGate synchronizes pawl and bubblewrap. bubblewrap stops before the build's first instruction and
// reports its process; pawl opens a handle to the process and lets it run.
type startGate struct {
	status, statusReader     *os.File // bubblewrap writes status events, pawl reads them
	blockReader, blockWriter *os.File // bubblewrap waits for pawl to write
	filter                   *os.File // the system calls a build may make
	events                   *json.Decoder
}

func openGate() (_ *startGate, err error) {
	g := &startGate{}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.statusReader, g.status, err = os.Pipe(); err != nil {
		return nil, err
	}
	if g.blockReader, g.blockWriter, err = os.Pipe(); err != nil {
		return nil, err
	}
	if g.filter, err = systemCallFilter(); err != nil {
		return nil, err
	}
	g.events = json.NewDecoder(g.statusReader)
	return g, nil
}

// files returns the files that bubblewrap inherits: descriptors 3 and up, as numbered in args.
func (g *startGate) files() []*os.File {
	list := []*os.File{g.status, g.blockReader}
	if g.filter != nil {
		list = append(list, g.filter)
	}
	return list
}

func (g *startGate) args() []string {
	args := []string{"--json-status-fd", "3", "--block-fd", "4"}
	if g.filter != nil {
		args = append(args, "--seccomp", "5")
	}
	return args
}

func (g *startGate) close() {
	for _, f := range []*os.File{g.status, g.statusReader, g.blockReader, g.blockWriter, g.filter} {
		if f != nil {
			f.Close()
		}
	}
}

// enter waits until the build is ready and lets it run.
func (g *startGate) enter() (*buildProcesses, error) {
	g.status.Close() // so that reading ends when bubblewrap does
	g.blockReader.Close()
	if err := g.statusReader.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, err
	}
	var event struct {
		Child int `json:"child-pid"`
	}
	if err := g.events.Decode(&event); err != nil {
		return nil, fmt.Errorf("bubblewrap did not report which process it started: %w", err)
	}
	if event.Child <= 1 {
		return nil, fmt.Errorf("bubblewrap reported an invalid process ID: %d", event.Child)
	}
	fd, err := unix.PidfdOpen(event.Child, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open process %d: %w", event.Child, err)
	}
	// If memory runs out, the kernel should kill the build first. A failure to set this is harmless.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", event.Child), []byte("1000"), 0o644)
	if _, err := g.blockWriter.Write([]byte{1}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &buildProcesses{first: fd}, nil
}

// ended reports, after bubblewrap has ended, whether the build itself ended. If not, bubblewrap did
// not start it, or was killed.
func (g *startGate) ended() bool {
	var event struct {
		Code *int `json:"exit-code"`
	}
	return g.events.Decode(&event) == nil && event.Code != nil
}

// bounded prefixes a command with limits. prlimit sets them inside, where the user's processes
// outside do not count, and the command cannot raise them.
func (l Limits) bounded(prlimit string, command []string) []string {
	args := []string{prlimit, "--core=0"}
	for _, limit := range []struct {
		name     string
		resource int
		most     int64
	}{
		{"as", unix.RLIMIT_AS, l.Memory}, {"nproc", unix.RLIMIT_NPROC, l.Processes}, {"fsize", unix.RLIMIT_FSIZE, l.File},
	} {
		var now unix.Rlimit
		most := uint64(limit.most)
		if unix.Getrlimit(limit.resource, &now) == nil {
			most = min(most, now.Max) // a limit can only be lowered
		}
		args = append(args, fmt.Sprintf("--%s=%d", limit.name, most))
	}
	return slices.Concat(args, []string{"--"}, command)
}

// buildProcesses represents the processes of a build. The kernel reports the end of the first one only
// after all others have ended.
type buildProcesses struct{ first int }

// wait waits until no process of the build is left. Only then can nothing write to its outputs
// any more.
func (i *buildProcesses) wait() error {
	defer unix.Close(i.first)
	for deadline := time.Now().Add(10 * time.Second); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return &SandboxError{Reason: "processes of the build are still running after it ended"}
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(i.first), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return &SandboxError{Reason: "cannot wait for its processes", Err: err}
		case n > 0:
			return nil
		}
	}
}
