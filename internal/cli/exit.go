package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// The exit codes, the same for every command. docs/reference/exit-codes.md explains them;
// a test keeps both in sync.
const (
	exitOK          = 0 // maintained, improved, all checks passed
	exitFailed      = 1 // a regression, a wrong or broken candidate, a failed check
	exitNoAnswer    = 2 // inconclusive, nothing to test, the base does not work
	exitCannot      = 3 // the tool or its environment cannot do it
	exitUsage       = 4 // the user's input is wrong
	exitInterrupted = 5 // finished work is kept
)

var (
	errInterrupted = errors.New("interrupted")
	// errReported is wrapped by errors that were already shown to the user.
	errReported = errors.New("already said")
)

// usageError is an error in the user's input.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError is an error with its own exit code.
type exitError struct {
	code int
	error
}

func (e exitError) Unwrap() error { return e.error }

// failedCases returns the error for a run with failed cases. A failed candidate is a broken change;
// if another side failed, there is nothing to compare with.
func failedCases(run *measure.Run) error {
	failed := report.Failed(run)
	if len(failed) == 0 {
		return nil
	}
	code := exitNoAnswer
	var text strings.Builder
	for i, f := range failed {
		if f.Implementation == suite.Candidate {
			code = exitFailed
		}
		if i > 0 {
			text.WriteString("\n  ")
		}
		fmt.Fprintf(&text, "%s failed on %s: %s: %s", f.Implementation, report.Plural(len(f.Cases), "case"), f.Cases[0], f.Error)
		if f.Implementation == suite.Base {
			text.WriteString("\n  " + runner.HintUntrackedFiles)
		}
	}
	return exitError{code, errors.New(text.String())}
}

// exitCode is the only place that maps an error to an exit code.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return exitInterrupted
	}
	var (
		sandbox *build.SandboxError
		missing *build.MissingError
		spec    *build.SpecError
	)
	switch {
	case errors.As(err, &sandbox), errors.As(err, &missing):
		return exitCannot // the machine is at fault, whichever side was being built
	case errors.As(err, &spec):
		return exitUsage
	}
	if e, ok := errors.AsType[*trial.SideError](err); ok {
		if e.Side == suite.Candidate {
			return exitFailed
		}
		return exitNoAnswer
	}
	var (
		usage    usageError
		benchUse *runner.UsageError
		suiteErr suite.Errors
	)
	if errors.As(err, &usage) || errors.As(err, &benchUse) || errors.As(err, &suiteErr) {
		return exitUsage
	}
	return exitCannot
}
