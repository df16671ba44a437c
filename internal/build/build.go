package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/shell"
	"github.com/goatnote-inc/pawl/measure"
)

// Recipe is one build: a command line in a folder.
type Recipe struct {
	Command string // for sh -c; empty when nothing has to be built
	Dir     string
	Env     []string // added to pawl's own
	Outputs []string // globs below Dir
	Timeout time.Duration
	Sandbox *Sandbox // nil for none: the build can do what pawl can
}

// Error is a build that failed.
type Error struct {
	Command string
	Dir     string
	Reason  string
	Output  string // the end of what it printed
}

func (e *Error) Error() string {
	s := fmt.Sprintf("build %q failed in %s: %s", e.Command, e.Dir, e.Reason)
	if e.Output != "" {
		s += "\n    " + strings.ReplaceAll(e.Output, "\n", "\n    ")
	}
	return s
}

// Run builds and says what came out. Everything printed goes to the log.
func Run(ctx context.Context, r Recipe, log io.Writer) (measure.BuildFacts, error) {
	facts := measure.BuildFacts{Command: r.Command}
	if r.Command != "" {
		began := time.Now()
		if err := r.execute(ctx, log); err != nil {
			return facts, err
		}
		facts.Seconds = time.Since(began).Seconds()
	}
	outputs, err := Digests(r.Dir, r.Outputs)
	if err != nil {
		return facts, err
	}
	facts.Outputs = outputs
	if len(r.Outputs) > 0 && len(outputs) == 0 {
		return facts, &Error{Command: r.Command, Dir: r.Dir, Reason: fmt.Sprintf("it succeeded, but none of its outputs is there: %s", strings.Join(r.Outputs, ", "))}
	}
	return facts, nil
}

func (r Recipe) execute(ctx context.Context, log io.Writer) error {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("it took longer than build.timeout (%v)", r.Timeout))
		defer cancel()
	}
	var printed bytes.Buffer
	cmd := shell.Command(ctx, r.Command, r.Dir, r.Env)
	cmd.Stdout = &printed
	if log != nil {
		cmd.Stdout = io.MultiWriter(&printed, log)
	}
	cmd.Stderr = cmd.Stdout
	err := r.Sandbox.Run(ctx, cmd, r)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*SandboxError](err); ok {
		return e
	}
	reason := err.Error()
	if ctx.Err() != nil {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("build %q was stopped: %w", r.Command, context.Cause(ctx))
		}
		reason = context.Cause(ctx).Error()
	}
	return &Error{Command: r.Command, Dir: r.Dir, Reason: reason, Output: lastLines(printed.String(), 20)}
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
