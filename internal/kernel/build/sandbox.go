package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Sandbox isolates a build from everything but a copy of its sources: no network, no home, no
// devices, no caches, and only the variables meant for it. It uses bubblewrap. A nil Sandbox runs
// the command without isolation.
//
// The build shares the kernel with the machine. That is enough isolation for the build of a pull
// request, but not for code that is known to be malicious.
type Sandbox struct {
	Program string // path of bubblewrap
	Limits  Limits
	prlimit string // path of the program that sets the limits
}

// Limits bounds what a build in the sandbox may use. The recipe bounds its time.
type Limits struct {
	Memory    int64 // bytes of address space per process
	Processes int64 // processes and threads of the whole build
	File      int64 // bytes per file
	Disk      int64 // bytes of everything it writes, including its copy of the sources
	Outputs   int64 // bytes of all outputs copied out of it
}

const gib = 1 << 30

// defaultLimits is large enough to compile big template libraries on big machines.
var defaultLimits = Limits{Memory: 16 * gib, Processes: 4096, File: 4 * gib, Disk: 16 * gib, Outputs: 4 * gib}

// SandboxError reports that a build did not run because no sandbox was available, or that its
// sandbox failed. It does not mean that the code is wrong.
type SandboxError struct {
	What   string // what was attempted; empty for a build
	Reason string
	Fix    string // how to fix it; may be empty
	Err    error
}

func (e *SandboxError) Error() string {
	s := cmp.Or(e.What, "build") + " in a sandbox: " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "\n  " + e.Fix
	}
	return s
}

func (e *SandboxError) Unwrap() error { return e.Err }

// findBubblewrap returns the path of bubblewrap. what names the attempted action in an error.
func findBubblewrap(what string) (string, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return "", &SandboxError{
			What: what, Reason: "bubblewrap is not installed (bwrap is not in PATH)",
			Fix: "install it: sudo apt-get install bubblewrap; pawl doctor --fix shows the command for this machine",
		}
	}
	return program, nil
}

// FindSandbox finds bubblewrap and checks that it can create a sandbox on this machine.
func FindSandbox(ctx context.Context) (*Sandbox, error) {
	program, err := findBubblewrap("build")
	if err != nil {
		return nil, err
	}
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		return nil, &SandboxError{Reason: "prlimit, which limits a build, is not installed", Fix: "install it: sudo apt-get install util-linux"}
	}
	s := &Sandbox{Program: program, Limits: defaultLimits, prlimit: prlimit}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(namespaces(), "--ro-bind", "/", "/", "--", "/bin/sh", "-c", ":")...)
	asNobody(cmd)
	cmd.Env = []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, &SandboxError{
			Reason: fmt.Sprintf("bubblewrap cannot create a sandbox here: %s", firstLine(string(out), err)),
			Fix:    "allow it to create user namespaces. Ubuntu: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
		}
	}
	return s, nil
}

// Version returns the version that bubblewrap prints.
func (s *Sandbox) Version(ctx context.Context) string {
	return toolVersion(ctx, s.Program, "--version")
}

func firstLine(text string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

// Run runs the command of a recipe, as prepared by shell.Command, and waits for it. Its messages go
// to the command's Stdout. In a sandbox it runs on a copy of the sources, and only the declared
// outputs are copied back. When Run returns, no process of the build is left.
func (s *Sandbox) Run(ctx context.Context, cmd *exec.Cmd, r Recipe) error {
	if s == nil {
		return shell.Run(cmd)
	}
	if len(r.Outputs) == 0 {
		return &SandboxError{
			Reason: "the suite lists no build outputs, so nothing can be copied out of the sandbox",
			Fix:    "list what the build makes in build.outputs",
		}
	}
	room, err := s.newWorkspace(ctx, r, nil)
	if err != nil {
		return setupError(ctx, err)
	}
	defer room.clear()
	if err := s.confined(ctx, cmd, room, r); err != nil {
		return err
	}
	return room.exportOutputs(r.Outputs, s.Limits.Outputs)
}

// setupError returns why a sandbox could not be set up. If the context ended, that is the reason, and
// not a fault of the sandbox.
func setupError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// confined runs the command in bubblewrap and waits for it.
func (s *Sandbox) confined(ctx context.Context, cmd *exec.Cmd, room *workspace, r Recipe) error {
	gate, err := openGate()
	if err != nil {
		return &SandboxError{Reason: "cannot set up the sandbox", Err: err}
	}
	defer gate.close()
	view := room.view(cleanEnviron(os.Environ(), r.Env))
	cmd.Args = slices.Concat([]string{s.Program}, gate.args(), view, []string{"--"}, s.Limits.bounded(s.prlimit, cmd.Args))
	cmd.Path, cmd.Dir, cmd.Env = s.Program, "/", []string{}
	cmd.ExtraFiles = gate.files()
	if cmd.Stdout == nil {
		cmd.Stdout = io.Discard
	}
	last := &shell.Tail{Max: 300}
	cmd.Stdout = io.MultiWriter(last, cmd.Stdout)
	cmd.Stderr = cmd.Stdout
	asNobody(cmd)
	if err := shell.Start(cmd); err != nil {
		return setupError(ctx, &SandboxError{Reason: "cannot start bubblewrap", Err: err})
	}
	inside, err := gate.enter()
	if err != nil {
		_ = cmd.Cancel()
		_ = shell.Wait(cmd)
		return setupError(ctx, &SandboxError{Reason: "cannot set up the sandbox", Err: fmt.Errorf("%w %s", err, bytes.TrimSpace(last.Bytes()))})
	}
	full := make(chan error, 1)
	watched, unwatch := context.WithCancel(ctx)
	go func() {
		err := room.watch(watched, s.Limits.Disk)
		if err != nil && watched.Err() == nil {
			_ = cmd.Cancel()
		}
		full <- err
	}()
	err = shell.Wait(cmd)
	unwatch()
	if tooFull := <-full; tooFull != nil {
		err = tooFull
	} else if err != nil && ctx.Err() == nil && !gate.ended() {
		err = &SandboxError{Reason: "bubblewrap cannot start the build", Err: fmt.Errorf("%w: %s", err, bytes.TrimSpace(last.Bytes()))}
	}
	return errors.Join(err, inside.wait())
}
