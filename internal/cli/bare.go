package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// runBare runs pawl without a command: it measures the suite, or the only harness in this
// folder, against the merge base.
func runBare(ctx context.Context, g *globals) error {
	bench := benchFlags{globals: g, wait: 30 * time.Minute}
	survey, err := surveyFolder()
	if err != nil {
		return err
	}
	var s *suite.Suite
	var path string
	if exists(discover.SuiteFile) {
		s, path, err = loadSuite("")
	} else {
		s, err = g.suiteInMemory(survey)
	}
	if err != nil {
		return err
	}
	bench.base = g.mergeBase(ctx, requiredFiles(s, survey))
	return bench.measure(ctx, s, path)
}

// suiteInMemory builds a suite in memory from the only harness or benchmark in the folder.
func (g *globals) suiteInMemory(survey discover.Survey) (*suite.Suite, error) {
	chosen, err := survey.Choose("")
	if err == nil && chosen.Level == discover.Kernel {
		err = errors.New("found kernels, but no harness or benchmark that measures them")
	}
	if err != nil {
		fmt.Fprint(g.Err, survey.Explain())
		return nil, withNextStep(err)
	}
	data, err := discover.Compose(folderName(), chosen, nil)
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
func (g *globals) mergeBase(ctx context.Context, needed []string) string {
	commit, err := g.findBase(ctx, needed)
	if err != nil {
		fmt.Fprintf(g.Err, "measuring without a base: %v\n", err)
	}
	return commit
}

// findBase finds the merge base and prints which commit it chose. The error says why there is none.
func (g *globals) findBase(ctx context.Context, needed []string) (string, error) {
	repo, err := build.Open(ctx, ".")
	if err != nil {
		return "", build.ErrNoRepository
	}
	commit, with, err := repo.MergeBase(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range needed {
		if !repo.Has(ctx, commit, name) {
			return "", fmt.Errorf("%s is not in commit %.12s (%s)", name, commit, with)
		}
	}
	fmt.Fprintf(g.Err, "measuring against %.12s (%s)\n", commit, with)
	return commit, nil
}

// requiredFiles returns the files that an older commit must contain to be measured: the harness, and
// the SDK file if it lies beside it.
func requiredFiles(s *suite.Suite, survey discover.Survey) []string {
	chosen, err := survey.Choose("")
	candidate, _ := s.Implementation(suite.Candidate)
	if err != nil || chosen.Level != discover.Harness || candidate.Harness.Format != "pawl" {
		return nil
	}
	files := []string{chosen.Source}
	sdk := path.Join(path.Dir(chosen.Source), chosen.SDK)
	if exists(filepath.FromSlash(sdk)) {
		files = append(files, sdk)
	}
	return files
}
