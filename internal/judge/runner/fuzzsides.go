package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// kernel runs an implementation of a benchmark on any requested config. If parameters are compiled
// in, each build has its own process.
type kernel struct {
	implementation string
	// process returns the key of the process that can run a config, and starts it. An error means that none can.
	process func(suite.Params) (key string, start startProcess, err error)
	open    map[string]*correctness.HarnessSubject
	warm    string // the config that ran last
}

type startProcess func(context.Context) (*correctness.HarnessSubject, error)

// Run implements oracle.Subject. Each config first runs on other contents. A kernel that caches results
// instead of computing them is then wrong at every point, not only at the second point of a config.
func (k *kernel) Run(ctx context.Context, t correctness.Task) ([]tensor.Tensor, error) {
	key, start, err := k.process(t.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", correctness.ErrUnsupported, err)
	}
	subject := k.open[key]
	if subject == nil {
		if subject, err = start(ctx); err != nil {
			return nil, err
		}
		if k.open == nil {
			k.open = map[string]*correctness.HarnessSubject{}
		}
		k.open[key] = subject
	}
	if config := key + t.Params.String(); k.warm != config {
		k.warm = config
		if err := k.runDecoy(ctx, subject, t); err != nil {
			return nil, k.wrapError(ctx, err)
		}
	}
	out, err := subject.Run(ctx, t)
	return out, k.wrapError(ctx, err)
}

// runDecoy runs a config on contents whose result is ignored: one value everywhere, which is cheap to make.
func (k *kernel) runDecoy(ctx context.Context, subject *correctness.HarnessSubject, t correctness.Task) error {
	tensors, err := correctness.Inputs(t.Arguments, correctness.Constant, t.Poison)
	if err != nil {
		return err
	}
	t.Contents = correctness.NewContents(tensors, subject.Dir)
	defer t.Contents.Remove()
	_, err = subject.Run(ctx, t)
	return err
}

// wrapError adds the name of the implementation to a harness error. After an
// error, the next run repeats the decoy.
func (k *kernel) wrapError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	k.warm = ""
	if e, ok := errors.AsType[*harness.Error](err); ok && ctx.Err() == nil {
		return &trial.SideError{Side: k.implementation, Err: e}
	}
	return err
}

func (k *kernel) close(ctx context.Context) error {
	var errs []error
	for _, s := range k.open {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(errs...)
}

// harnessed returns a kernel in the suite's own harness, in the tree of a side, with its files in
// dir. Only built variants run: a config that needs another build counts as unsupported.
func (f *fuzz) harnessed(at side, dir, implementation string, b suite.Benchmark, log io.Writer) *kernel {
	process := func(p suite.Params) (string, startProcess, error) {
		v, err := f.suiteOf(at).VariantFor(implementation, b.Complete(p))
		if err == nil && !f.builtKeys[implementation+v.Build.Key()] {
			err = fmt.Errorf("%s is not built for {%s}", implementation, p)
		}
		return v.Harness.Key(), func(context.Context) (*correctness.HarnessSubject, error) {
			start := f.starter("", v.Harness, f.alone(implementation, v.Harness), log)
			if implementation != suite.Candidate {
				start = f.startReference(at, dir, v.Harness, f.alone(implementation, v.Harness), log)
			}
			return &correctness.HarnessSubject{
				Implementation: implementation, Complete: b.Complete, Process: correctness.Process{Dir: dir, Start: start},
			}, nil
		}, err
	}
	return &kernel{implementation: implementation, process: process}
}

func (f *fuzz) starter(role harness.Role, h suite.Harness, alone bool, log io.Writer) func(context.Context) (*harness.Session, error) {
	command := side{dir: f.Dir}.command(h, log, f.deviceEnv()...)
	command.Role, command.Alone = role, alone
	return func(ctx context.Context) (*harness.Session, error) {
		return harness.Start(ctx, command, f.hello())
	}
}

// launched returns the candidate's kernel in pawl's own launcher.
func (f *fuzz) launched(b suite.Benchmark, log io.Writer) *kernel {
	of := func(p suite.Params) (*harness.Launch, []tensor.Argument, error) {
		return f.launchOf(f.Dir, suite.Case{CaseKey: measure.CaseKey{Benchmark: b.Name}, Params: p})
	}
	spec := func(p suite.Params) (*harness.Launch, error) {
		l, _, err := of(p)
		return l, err
	}
	process := func(p suite.Params) (string, startProcess, error) {
		l, arguments, err := of(p)
		if err != nil {
			return "", nil, err
		}
		return l.Kind, func(ctx context.Context) (*correctness.HarnessSubject, error) {
			path, err := launch.Build(ctx, l.Kind, [][]tensor.Argument{arguments}, cacheDir())
			if err != nil {
				return nil, err
			}
			h, _ := f.Suite.Implementation(suite.Candidate)
			h.Harness.Command, h.Harness.Env = launch.Command(path), nil
			return &correctness.HarnessSubject{
				Implementation: suite.Candidate, Launch: spec, Complete: b.Complete,
				Process: correctness.Process{Dir: f.tensors, Start: f.starter(harness.Launcher, h.Harness, false, log)},
			}, nil
		}, nil
	}
	return &kernel{implementation: suite.Candidate, process: process}
}

// reference returns the source of correct results of a benchmark, and a function that ends it. It
// runs at its own site and exchanges files in its own folder.
func (f *fuzz) reference(b suite.Benchmark, log io.Writer) (correctness.Reference, func(context.Context) error) {
	command := b.Check.Oracle
	if f.Against != "" {
		command = f.Against
	}
	if command == "" && b.Check.Implementation == "" {
		return correctness.ExpressionReference{Formulas: b.Check.Expression}, func(context.Context) error { return nil }
	}
	dir, err := f.folder() // separate from the kernel's
	if err != nil {
		return brokenReference{err}, func(context.Context) error { return nil }
	}
	if command != "" {
		c := &correctness.CommandReference{Process: correctness.Process{Dir: dir, Start: f.startOracle(b, dir, command, log)}}
		return c, c.Close
	}
	k := f.harnessed(f.referenceSide(b), dir, b.Check.Implementation, b, log)
	return correctness.ImplementationReference{Subject: k, Dir: dir}, k.close
}

// openReference returns the source of correct results of a benchmark until the run ends.
func (f *fuzz) openReference(b suite.Benchmark, log io.Writer) correctness.Reference {
	reference, end := f.reference(b, log)
	f.AtEnd(func(ctx context.Context) error {
		_ = end(ctx) // how it ends does not affect results
		return nil
	})
	return reference
}

// cacheDir returns the folder where launchers are kept. Without a home directory it is a temporary folder.
func cacheDir() string {
	dir, err := build.CacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "pawl")
	}
	return dir
}
