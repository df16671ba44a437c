package env

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func TestDocsFor(t *testing.T) {
	for _, tt := range []struct {
		err  error
		page string
	}{
		{command.Usage(errors.New("unknown flag")), command.DocsFolder},
		{command.Usage(suite.Errors{{Msg: "unknown key"}}), command.DocsFolder + suitePage},
		{&trial.SideError{Side: "candidate", Err: &harness.Error{Kind: harness.Hung}}, command.DocsFolder + harnessPage},
		{fmt.Errorf("start: %w", &harness.Error{Kind: harness.Crashed, Role: harness.Oracle}), command.DocsFolder + fuzzPage},
		{&harness.Error{Kind: harness.Refused, Role: harness.Launcher}, command.DocsFolder + checkedPage},
		{fmt.Errorf("%w: no check", runner.ErrNothingToTest), command.DocsFolder + fuzzPage},
		{fmt.Errorf("%w after 3 rounds", command.ErrInterrupted), ""},
	} {
		if got := DocsFor(tt.err); got != tt.page {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.page)
		}
	}
	for _, page := range []string{suitePage, harnessPage, fuzzPage, checkedPage} {
		if _, err := os.Stat("../../../docs" + page); err != nil {
			t.Error(err)
		}
	}
}
