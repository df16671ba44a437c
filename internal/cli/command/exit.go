package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
)

// The exit codes, the same for every command. docs/reference/exit-codes.md explains them;
// a test keeps both in sync.
const (
	ExitOK          = 0 // maintained, improved, all checks passed
	ExitFailed      = 1 // a regression, a wrong or broken candidate, a failed check
	ExitNoAnswer    = 2 // inconclusive, nothing to test, the base does not work
	ExitCannot      = 3 // the tool or its environment cannot do it
	ExitUsage       = 4 // the user's input is wrong
	ExitInterrupted = 5 // finished work is kept
)

var (
	// ErrInterrupted cancels the context of an interrupted command.
	ErrInterrupted = errors.New("interrupted")
	// ErrReported is wrapped by errors that were already shown to the user.
	ErrReported = errors.New("already reported")
)

// UsageError is an error in the user's input.
type UsageError struct{ err error }

// Usage returns err as an error in the user's input.
func Usage(err error) error { return &UsageError{err} }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

// ExitError is an error with its own exit code.
type ExitError struct {
	Code int
	err  error
}

// Exit returns err with an exit code.
func Exit(code int, err error) error { return &ExitError{code, err} }

func (e *ExitError) Error() string { return e.err.Error() }

func (e *ExitError) Unwrap() error { return e.err }

// Code returns the exit code of an error that says nothing about kernels.
func Code(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		return ExitInterrupted
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	return ExitCannot
}

// WriteJSON writes v as an indented JSON document.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
