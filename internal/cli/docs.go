package cli

import (
	"errors"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// docsFolder is the URL of the documentation.
const docsFolder = "https://github.com/goatnote-inc/pawl/tree/main/docs"

// Pages that help with one kind of error. A test checks that they exist.
const (
	suitePage   = "/reference/suite.md"
	harnessPage = "/how-to/write-a-harness.md"
	fuzzPage    = "/how-to/fuzz.md"
	checkedPage = "/how-to/checked.md"
	commentPage = "/reference/comment.md"
)

// docsFor returns the page to read after an error; empty if no page would help.
func docsFor(err error) string {
	if errors.Is(err, errInterrupted) {
		return ""
	}
	if _, ok := errors.AsType[suite.Errors](err); ok {
		return docsFolder + suitePage
	}
	if e, ok := errors.AsType[*harness.Error](err); ok {
		switch e.Role {
		case harness.Oracle:
			return docsFolder + fuzzPage
		case harness.Launcher:
			return docsFolder + checkedPage
		default:
			return docsFolder + harnessPage
		}
	}
	if errors.Is(err, runner.ErrNothingToTest) {
		return docsFolder + fuzzPage
	}
	return docsFolder
}
