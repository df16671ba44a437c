package env

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// FailedCases returns the error for a run with failed cases. A failed candidate is a broken change;
// if another side failed, there is nothing to compare with.
func FailedCases(run *measure.Run) error {
	failed := report.Failed(run)
	if len(failed) == 0 {
		return nil
	}
	code := command.ExitNoAnswer
	var text strings.Builder
	for i, f := range failed {
		if f.Implementation == suite.Candidate {
			code = command.ExitFailed
		}
		if i > 0 {
			text.WriteString("\n  ")
		}
		fmt.Fprintf(&text, "%s failed on %s: %s: %s", f.Implementation, words.Plural(len(f.Cases), "case"), f.Cases[0], f.Error)
		if f.Implementation == suite.Base {
			text.WriteString("\n  " + runner.HintUntrackedFiles)
		}
	}
	return command.Exit(code, errors.New(text.String()))
}

// ExitCode is the only place that maps an error about kernels to an exit code.
func ExitCode(ctx context.Context, err error) int {
	if _, own := errors.AsType[*command.ExitError](err); err == nil || own || errors.Is(context.Cause(ctx), command.ErrInterrupted) {
		return command.Code(ctx, err)
	}
	var (
		sandbox *build.SandboxError
		missing *build.MissingError
		spec    *build.SpecError
	)
	switch {
	case errors.As(err, &sandbox), errors.As(err, &missing):
		return command.ExitCannot // the machine is at fault, whichever side was being built
	case errors.As(err, &spec):
		return command.ExitUsage
	}
	if e, ok := errors.AsType[*trial.SideError](err); ok {
		if e.Side == suite.Candidate {
			return command.ExitFailed
		}
		return command.ExitNoAnswer
	}
	var (
		benchUse *runner.UsageError
		forgeUse *forge.InputError
		suiteErr suite.Errors
	)
	if errors.As(err, &benchUse) || errors.As(err, &forgeUse) || errors.As(err, &suiteErr) {
		return command.ExitUsage
	}
	return command.Code(ctx, err)
}
