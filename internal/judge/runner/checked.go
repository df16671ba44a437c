package runner

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// checked reports whether pawl's own launcher runs the kernels, so that no host code of the change
// is in the process that reads the clocks.
func (o Options) checked() bool { return o.trust() == measure.Checked }

// launcher is one of pawl's own launcher programs.
type launcher struct {
	command string
	dir     string
	files   []measure.FileDigest // digests of the launcher when it was built or found
}

// buildLaunchers builds the launchers that the suite's cases need, one per kind.
func (r *Setup) buildLaunchers(ctx context.Context) error {
	if !r.checked() {
		return nil
	}
	if r.Suite.NeedsHarness() {
		return &UsageError{fmt.Errorf("trust checked requires a suite that lists its cases: no harness is asked for them")}
	}
	arguments := map[string][][]tensor.Argument{} // by kind
	for _, c := range r.wanted() {
		l, list, err := r.launchOf(r.Dir, c)
		if err != nil {
			return err
		}
		arguments[l.Kind] = append(arguments[l.Kind], list)
	}
	r.launchers = map[string]launcher{}
	for kind, lists := range arguments {
		path, err := launch.Build(ctx, kind, lists, cacheDir())
		if err != nil {
			return err
		}
		files, err := build.Digests(filepath.Dir(path), []string{filepath.Base(path)})
		if err != nil {
			return err
		}
		r.launchers[kind] = launcher{launch.Command(path), filepath.Dir(path), files}
	}
	return nil
}

// launchOf returns how the launcher starts a case of a side built in dir.
func (o Options) launchOf(dir string, c suite.Case) (*harness.Launch, []tensor.Argument, error) {
	b := o.Suite.Benchmark(c.Benchmark)
	l, err := b.Launch(c.Params)
	if err != nil {
		return nil, nil, &UsageError{err}
	}
	if l == nil {
		return nil, nil, &UsageError{fmt.Errorf("trust checked requires the launch of %s: add launch to it in the suite", b.Name)}
	}
	spec, err := launch.Spec(dir, *l)
	if err != nil {
		return nil, nil, &UsageError{err}
	}
	list, err := b.Arguments(c.Params)
	if err != nil {
		return nil, nil, &UsageError{err}
	}
	return &spec, list, nil
}

// harnessFor returns the program that runs a case: the suite's harness, or a launcher.
func (r *Setup) harnessFor(h suite.Harness, c trial.Case) suite.Harness {
	if c.Launch != nil {
		h.Command, h.Env = r.launchers[c.Launch.Kind].command, nil
	}
	return h
}
