package daemon

import (
	"context"
	"errors"
)

// Exit codes, the same as those of pawl. docs/reference/exit-codes.md explains them.
const (
	exitYes         = 0
	exitNo          = 1 // a check failed: fsck
	exitCannot      = 3 // the environment cannot do what was asked
	exitUsage       = 4 // the user's input is wrong
	exitInterrupted = 5
)

var (
	errInterrupted = errors.New("interrupted")
	// errReported is wrapped by errors that were already printed.
	errReported = errors.New("already reported")
)

// usageError is a mistake in the command line or in the settings.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// noError is a failed check.
type noError struct{ error }

func (e noError) Unwrap() error { return e.error }

// exitCode is the only place that maps an error to an exit code.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitYes
	}
	if _, ok := errors.AsType[noError](err); ok {
		return exitNo
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return exitInterrupted
	}
	return exitCannot
}
