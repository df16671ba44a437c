package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// RunError is a failed command. The commands after it were not run.
type RunError struct {
	Command Command
	Err     error
}

func (e *RunError) Error() string {
	s := fmt.Sprintf("%s: %v\n  the remaining commands were not run: fix this, then run `pawl doctor --fix` again; it continues from there", e.Command.Line, e.Err)
	if e.Command.Root && errors.Is(e.Err, errNoSudo) {
		s = fmt.Sprintf("%s: %v\n  run it as root, then run `pawl doctor --fix` again", e.Command.Line, e.Err)
	}
	return s
}

func (e *RunError) Unwrap() error { return e.Err }

var errNoSudo = errors.New("sudo is not installed")

// Streams are the standard streams of commands; the user types a password for sudo there.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs commands one by one, calling tell before each, and stops at the first failure.
func Run(ctx context.Context, commands []Command, s Streams, tell func(Command)) error {
	for _, c := range commands {
		tell(c)
		if err := run(ctx, c, s); err != nil {
			return &RunError{Command: c, Err: err}
		}
	}
	return nil
}

// run keeps the command in pawl's own process group: a background process could not ask for a password.
func run(ctx context.Context, c Command, s Streams) error {
	if hasSudo(c.Line) {
		if _, err := exec.LookPath("sudo"); err != nil {
			return errNoSudo
		}
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.Line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets a package manager finish cleanly
	cmd.WaitDelay = time.Minute
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
