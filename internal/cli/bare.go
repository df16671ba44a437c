package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/start"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// runBare runs pawl without a command: it measures the suite, or the only harness in this
// folder, against the merge base.
func runBare(ctx context.Context, g *env.Env) error {
	bench := bench.Flags{Env: g, Wait: 30 * time.Minute}
	survey, err := start.SurveyFolder()
	if err != nil {
		return err
	}
	var s *suite.Suite
	var path string
	if env.Exists(discover.SuiteFile) {
		s, path, err = env.LoadSuite("")
	} else {
		s, err = suiteInMemory(g, survey)
	}
	if err != nil {
		return err
	}
	bench.Base = mergeBase(ctx, g, requiredFiles(s, survey))
	return bench.Measure(ctx, s, path)
}

// suiteInMemory builds a suite in memory from the only harness or benchmark in the folder.
func suiteInMemory(g *env.Env, survey discover.Survey) (*suite.Suite, error) {
	chosen, err := survey.Choose("", start.Installed)
	if err == nil && chosen.Level == discover.Kernel {
		err = errors.New("found kernels, but no harness or benchmark that measures them")
	}
	if err != nil {
		fmt.Fprint(g.Err, survey.Explain())
		return nil, withNextStep(err)
	}
	data, err := discover.Compose(start.FolderName(), chosen, nil)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(g.Err, "no pawl.yaml: measuring %s, %s (run `pawl init` to save this as a suite)\n", chosen.Source, chosen.What)
	return suite.Parse(discover.SuiteFile, data)
}

// withNextStep adds the next step to an error that says why there is nothing to measure.
func withNextStep(err error) error {
	hint := "run pawl init to write a suite and see what is missing"
	if e, ok := errors.AsType[*discover.AmbiguousError](err); ok {
		hint = "run pawl init " + e.Sources[0] + " to use the first"
	}
	return command.Usage(fmt.Errorf("%w\n  %s; see pawl --help for other commands", err, hint))
}

// mergeBase returns the commit to measure against, or an empty string if there is none.
// It prints a line in both cases.
func mergeBase(ctx context.Context, g *env.Env, needed []string) string {
	commit, err := g.FindBase(ctx, needed)
	if err != nil {
		fmt.Fprintf(g.Err, "measuring without a base: %v\n", err)
	}
	return commit
}

// requiredFiles returns the files that an older commit must contain to be measured: the harness, and
// the SDK file if it lies beside it.
func requiredFiles(s *suite.Suite, survey discover.Survey) []string {
	chosen, err := survey.Choose("", start.Installed)
	candidate, _ := s.Implementation(suite.Candidate)
	if err != nil || chosen.Level != discover.Harness || candidate.Harness.Format != "pawl" {
		return nil
	}
	files := []string{chosen.Source}
	sdk := path.Join(path.Dir(chosen.Source), chosen.SDK)
	if env.Exists(filepath.FromSlash(sdk)) {
		files = append(files, sdk)
	}
	return files
}
