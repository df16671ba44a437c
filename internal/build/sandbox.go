package build

import (
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

	"github.com/goatnote-inc/pawl/internal/shell"
)

// Sandbox keeps a build away from everything but a copy of its sources: no
// network, no home, no devices, no caches, no variables that were not meant for it. It
// is bubblewrap's; a nil one runs the command as it is.
//
// What is shared with the machine is its kernel. That is enough for the build of a
// pull request, and not for code of which one knows that it attacks.
type Sandbox struct {
	Program string // bubblewrap
	Limits  Limits
	prlimit string // the program that sets them
}

// Limits bound what a build in the sandbox may use. Its time is bounded by the
// recipe.
type Limits struct {
	Memory    int64 // bytes of address space, of each process
	Processes int64 // and threads, of all of the build
	File      int64 // bytes of one file
	Disk      int64 // bytes of everything it writes, its copy of the sources included
	Outputs   int64 // bytes of what is taken out of it
}

const gib = 1 << 30

// defaultLimits let large template libraries compile on large machines.
var defaultLimits = Limits{Memory: 16 * gib, Processes: 4096, File: 4 * gib, Disk: 16 * gib, Outputs: 4 * gib}

// SandboxError says that a build could not be kept in a sandbox, so that it was
// not run, or that its sandbox failed. It says nothing of the code.
type SandboxError struct {
	What   string // was to be done; empty for a build
	Reason string
	Fix    string // what to do about it; empty when there is nothing to say
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

// findBubblewrap looks for bubblewrap, to do something with it.
func findBubblewrap(what string) (string, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return "", &SandboxError{
			What: what, Reason: "bubblewrap is not installed (there is no bwrap on the search path)",
			Fix: "install it: sudo apt-get install bubblewrap; pawl setup shows the command for this machine",
		}
	}
	return program, nil
}

// FindSandbox looks for bubblewrap and tries whether it may make a sandbox here.
func FindSandbox(ctx context.Context) (*Sandbox, error) {
	program, err := findBubblewrap("build")
	if err != nil {
		return nil, err
	}
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		return nil, &SandboxError{Reason: "prlimit is not installed, which bounds a build", Fix: "install it: sudo apt-get install util-linux"}
	}
	s := &Sandbox{Program: program, Limits: defaultLimits, prlimit: prlimit}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(namespaces(), "--ro-bind", "/", "/", "--", "/bin/sh", "-c", ":")...)
	asNobody(cmd)
	cmd.Env = []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, &SandboxError{
			Reason: fmt.Sprintf("bubblewrap may not make one here: %s", firstLine(string(out), err)),
			Fix:    "let it make user namespaces. Ubuntu: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
		}
	}
	return s, nil
}

// Version is what bubblewrap says of itself.
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

// Run runs the command of a recipe, as shell.Command has prepared it, and waits
// for its end, with its messages on the command's Stdout. In a sandbox it runs on a copy of the sources, of which only the
// declared outputs come back; when it returns, nothing of the build is alive.
func (s *Sandbox) Run(ctx context.Context, cmd *exec.Cmd, r Recipe) error {
	if s == nil {
		return shell.Run(cmd)
	}
	if len(r.Outputs) == 0 {
		return &SandboxError{
			Reason: "the suite does not say what the build makes, so nothing could be taken out of it",
			Fix:    "write what the build makes into build.outputs",
		}
	}
	room, err := s.furnish(ctx, r)
	if err != nil {
		return standing(ctx, err)
	}
	defer room.clear()
	if err := s.confined(ctx, cmd, room, r); err != nil {
		return err
	}
	return room.takeOut(r.Outputs, s.Limits.Outputs)
}

// standing is why there is no sandbox yet: one that was told to stop before it stood has no
// fault.
func standing(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// confined wraps the command and runs it to its end.
func (s *Sandbox) confined(ctx context.Context, cmd *exec.Cmd, room *room, r Recipe) error {
	gate, err := openGate()
	if err != nil {
		return &SandboxError{Reason: "it could not be prepared", Err: err}
	}
	defer gate.close()
	view := room.view(cleanEnviron(os.Environ(), r.Env))
	cmd.Args = slices.Concat([]string{s.Program}, gate.args(), view, []string{"--"}, s.Limits.bounded(s.prlimit, cmd.Args))
	cmd.Path, cmd.Dir, cmd.Env = s.Program, "/", []string{}
	cmd.ExtraFiles = gate.files()
	if cmd.Stdout == nil {
		cmd.Stdout = io.Discard
	}
	last := &tail{to: cmd.Stdout}
	cmd.Stdout, cmd.Stderr = last, last
	asNobody(cmd)
	if err := shell.Start(cmd); err != nil {
		return standing(ctx, &SandboxError{Reason: "bubblewrap does not start", Err: err})
	}
	inside, err := gate.enter()
	if err != nil {
		_ = cmd.Cancel()
		_ = shell.Wait(cmd)
		return standing(ctx, &SandboxError{Reason: "it could not be prepared", Err: fmt.Errorf("%w %s", err, last)})
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
		err = &SandboxError{Reason: "bubblewrap could not start the build", Err: fmt.Errorf("%w: %s", err, last)}
	}
	return errors.Join(err, inside.gone())
}

// tail passes on what is printed and remembers the end of it.
type tail struct {
	to  io.Writer
	end []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b...)
	t.end = t.end[max(0, len(t.end)-300):]
	return t.to.Write(b)
}

func (t *tail) String() string { return strings.TrimSpace(string(t.end)) }
