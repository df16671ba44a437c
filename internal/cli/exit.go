package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// The exit codes, the same in every command. docs/reference/exit-codes.md
// explains them; a test keeps the two equal.
const (
	exitYes         = 0 // maintained, improved, all checks passed
	exitNo          = 1 // a regression, a wrong or broken candidate, a check that says no
	exitNoAnswer    = 2 // inconclusive, nothing to test, the base does not work
	exitCannot      = 3 // the tool or its environment cannot do what was asked
	exitUsage       = 4 // the user's input is wrong
	exitInterrupted = 5 // what was done is kept
)

var (
	errInterrupted = errors.New("interrupted")
	// errSaid is wrapped by errors of which the user has been told already.
	errSaid = errors.New("already said")
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// codeError is an answer that has an exit code of its own.
type codeError struct {
	code int
	error
}

func (e codeError) Unwrap() error { return e.error }

// failedCases is the answer of a run in which cases failed: of the candidate, that
// is a broken change; of another side, there is nothing to compare it with.
func failedCases(run *measure.Run) error {
	failed := report.Failed(run)
	if len(failed) == 0 {
		return nil
	}
	code := exitNoAnswer
	var text strings.Builder
	for i, f := range failed {
		if f.Implementation == suite.Candidate {
			code = exitNo
		}
		if i > 0 {
			text.WriteString("\n  ")
		}
		fmt.Fprintf(&text, "%s failed on %s: %s: %s", f.Implementation, report.Plural(len(f.Cases), "case"), f.Cases[0], f.Error)
		if f.Implementation == suite.Base {
			text.WriteString("\n  " + bench.OnlyTracked)
		}
	}
	return codeError{code, errors.New(text.String())}
}

// exitCode is the one place where an error becomes a number.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitYes
	}
	if e, ok := errors.AsType[codeError](err); ok {
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
		return exitCannot // the machine's fault, whichever side was to be built
	case errors.As(err, &spec):
		return exitUsage
	}
	if e, ok := errors.AsType[*trial.SideError](err); ok {
		if e.Side == suite.Candidate {
			return exitNo
		}
		return exitNoAnswer
	}
	var (
		usage    usageError
		benchUse *bench.UsageError
		suiteErr suite.Errors
	)
	if errors.As(err, &usage) || errors.As(err, &benchUse) || errors.As(err, &suiteErr) {
		return exitUsage
	}
	return exitCannot
}
