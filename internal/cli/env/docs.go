package env

import (
	"errors"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Pages that help with one kind of error. A test checks that they exist.
const (
	suitePage   = "/reference/suite.md"
	harnessPage = "/how-to/write-a-harness.md"
	fuzzPage    = "/how-to/fuzz.md"
	checkedPage = "/how-to/checked.md"
	CommentPage = "/reference/comment.md"
)

// DocsFor returns the page to read after an error; empty if no page would help.
func DocsFor(err error) string {
	if errors.Is(err, command.ErrInterrupted) {
		return ""
	}
	if _, ok := errors.AsType[suite.Errors](err); ok {
		return command.DocsFolder + suitePage
	}
	if e, ok := errors.AsType[*harness.Error](err); ok {
		switch e.Role {
		case harness.Oracle:
			return command.DocsFolder + fuzzPage
		case harness.Launcher:
			return command.DocsFolder + checkedPage
		default:
			return command.DocsFolder + harnessPage
		}
	}
	if errors.Is(err, runner.ErrNothingToTest) {
		return command.DocsFolder + fuzzPage
	}
	return command.DocsFolder
}
