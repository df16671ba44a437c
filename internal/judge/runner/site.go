package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// referenceSite is where the oracles and reference implementations of a tree run. The change cannot write
// there, and nothing there reveals what the kernel computed.
type referenceSite struct {
	side
	hidden  []string         // the tree of the change, if the site is in another one
	kept    []string         // Python environments in away without files of the change
	python  string           // folder with pawl's modules for oracles
	sandbox *build.Enclosure // sandbox; nil if the code is trusted
}

// referenceSide returns the side in whose tree the correct results of a benchmark are computed. It
// is the base if its suite names the same oracle or implementation, else the working tree.
func (r *Setup) referenceSide(b suite.Benchmark) side {
	own := side{name: suite.Candidate, from: suite.Candidate, dir: r.Dir}
	for _, s := range r.sides {
		switch {
		case s.name == suite.Candidate:
			own = s
		case s.name == suite.Base && s.own != nil && b.Check != nil:
			was := s.own.Benchmark(b.Name).Check
			if was != nil && was.Oracle == b.Check.Oracle && was.Implementation == b.Check.Implementation {
				return s
			}
		}
	}
	return own
}

// prepareReferences builds the reference implementations where they run, and makes the sites before
// any code of the change has run.
func (r *Setup) prepareReferences(ctx context.Context) error {
	if r.plain() {
		return nil
	}
	r.ready = map[string]bool{}
	for _, b := range r.Suite.Benchmarks {
		if b.Check == nil || b.Check.Oracle == "" && b.Check.Implementation == "" {
			continue
		}
		s := r.referenceSide(b)
		if name := b.Check.Implementation; name != "" {
			if err := r.buildReference(ctx, s, name); err != nil {
				return &trial.SideError{Side: name, Err: err}
			}
		}
		if _, err := r.site(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// buildReference builds a reference implementation in the tree of a side.
func (r *Setup) buildReference(ctx context.Context, s side, name string) error {
	s.name, s.from = name, name
	var log io.WriteCloser
	for _, v := range r.variants(s) {
		key := v.Build.Key()
		if r.ready[name+key] {
			continue
		}
		if log == nil {
			var err error
			if log, err = r.log(name + ".build.log"); err != nil {
				return err
			}
			defer log.Close()
		}
		if err := r.buildVariant(ctx, &s, v.Build, log); err != nil {
			return err
		}
		r.ready[name+key] = true
	}
	return nil
}

// site returns the site of a side's tree, creating it on first use.
func (r *Setup) site(ctx context.Context, s side) (*referenceSite, error) {
	if known := r.sites[s.dir]; known != nil {
		return known, nil
	}
	o := &referenceSite{side: s}
	if len(r.sides) > 0 && r.sides[0].dir != s.dir {
		change := r.sides[0]
		o.hidden = []string{cmp.Or(change.root, change.dir)}
		o.kept = r.environments(ctx, change)
	}
	var err error
	if o.python, err = build.SharedFolder("pawl-oracle-"); err == nil {
		r.AtEnd(func(context.Context) error { return os.RemoveAll(o.python) })
		err = correctness.WritePython(o.python)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create a folder for oracles: %w", err)
	}
	if err := o.enclose(ctx, r); err != nil {
		return nil, err
	}
	if r.sites == nil {
		r.sites = map[string]*referenceSite{}
	}
	r.sites[s.dir] = o
	return o, nil
}

// environments returns the active Python environments of the user that contain no files of the
// change's commit or of its build.
func (r *Setup) environments(ctx context.Context, change side) []string {
	var list []string
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		folder := os.Getenv(name)
		if folder == "" {
			continue
		}
		repo, err := build.Open(ctx, change.dir)
		if err == nil && within(repo.Root, folder) != "" && repo.Tracks(ctx, folder) {
			continue
		}
		if !slices.ContainsFunc(change.impl.Build.Outputs, func(f measure.FileDigest) bool { return within(folder, filepath.Join(change.dir, f.Path)) != "" }) {
			list = append(list, folder)
		}
	}
	return list
}

// enclose creates the sandbox of a site, by the rules for builds.
func (o *referenceSite) enclose(ctx context.Context, r *Setup) error {
	candidate, _ := r.suiteOf(o.side).Implementation(suite.Candidate)
	sandbox, err := build.Confine(ctx, candidate.Build.Sandbox, r.trust(), os.Getenv)
	if err != nil {
		if e, ok := errors.AsType[*build.SandboxError](err); ok {
			e.What = "run the oracle"
		}
		return err
	}
	if sandbox == nil {
		return nil
	}
	var outputs []string
	for _, v := range r.suiteOf(o.side).Variants() {
		for _, glob := range v.Build.Outputs {
			if !slices.Contains(outputs, glob) {
				outputs = append(outputs, glob)
			}
		}
	}
	if o.sandbox, err = sandbox.Enclose(ctx, o.dir, outputs); err != nil {
		return err
	}
	r.AtEnd(func(context.Context) error {
		o.sandbox.Remove()
		return nil
	})
	return nil
}

// outside returns the folders of a search path that are absolute and not in the tree of the change.
func (o *referenceSite) outside(path string) []string {
	return slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		if !filepath.IsAbs(folder) {
			return true
		}
		names := []string{folder}
		if resolved, err := filepath.EvalSymlinks(folder); err == nil {
			names = append(names, resolved)
		}
		in := func(tree string) bool {
			return slices.ContainsFunc(names, func(f string) bool {
				rel, err := filepath.Rel(tree, f)
				return err == nil && filepath.IsLocal(rel)
			})
		}
		return slices.ContainsFunc(o.hidden, in) && !slices.ContainsFunc(o.kept, in)
	})
}

// env returns the variables that replace pawl's own in the environment of an oracle.
func (o *referenceSite) env() []string {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		dir = o.dir
	}
	return append(correctness.PythonEnv(o.python, o.outside(os.Getenv("PYTHONPATH")), o.modules(dir), o.hidden), o.path())
}

// path returns the search path for programs, without the tree of the change.
func (o *referenceSite) path() string {
	return "PATH=" + strings.Join(o.outside(os.Getenv("PATH")), string(filepath.ListSeparator))
}

// oracleVariables are the variables passed to an oracle: Python's, and those of libraries it may use.
var oracleVariables = append([]string{
	"PAWL_PROTOCOL", "PAWL_IN", "PAWL_OUT", "PYTHONHOME", "PYTHONUTF8", "PYTHONUNBUFFERED", "PYTHONHASHSEED",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
}, correctness.PythonVariables...)

// confine runs a command in the sandbox of the site, if it has one. dir is the only folder it can write to.
func (o *referenceSite) confine(ctx context.Context, c *harness.Command, dir string, v build.View) error {
	if o.sandbox == nil {
		return nil
	}
	if err := build.ChownForSandbox(dir); err != nil {
		return err
	}
	read, programs := build.Interpreter(ctx, c.Line, append(os.Environ(), c.Env...))
	v.Read = slices.Concat(v.Read, []string{o.python}, read)
	v.Write, v.Path = []string{dir}, programs
	c.Confine = func(cmd *exec.Cmd) (func(), error) { return o.sandbox.Confine(cmd, v) }
	return nil
}

// startOracle returns the function that starts the oracle of a benchmark at its site.
func (f *fuzz) startOracle(b suite.Benchmark, dir, line string, log io.Writer) func(context.Context) (*harness.Session, error) {
	h, _ := f.Suite.Implementation(suite.Candidate) // for its timeout
	return func(ctx context.Context) (*harness.Session, error) {
		o, err := f.site(ctx, f.referenceSide(b))
		if err != nil {
			return nil, err
		}
		c := o.command(suite.Harness{Command: line, Timeout: h.Harness.Timeout}, log, slices.Concat(o.env(), f.deviceEnv())...)
		c.Role = harness.Oracle
		if err := o.confine(ctx, &c, dir, build.View{Read: o.outside(os.Getenv("PYTHONPATH")), Variables: oracleVariables}); err != nil {
			return nil, err
		}
		session, err := harness.Start(ctx, c, f.hello())
		return session, o.explain(err)
	}
}

// explain adds to a start error of an oracle what may be missing at its site.
func (o *referenceSite) explain(err error) error {
	if err != nil && o.name == suite.Base {
		err = fmt.Errorf("%w\n  it runs in the checkout of the base: %s", err, HintUntrackedFiles)
	}
	if err != nil && o.sandbox != nil {
		err = fmt.Errorf("%w\n  it runs in a sandbox that contains only the tree, the system and its Python environment", err)
	}
	return err
}

// startReference returns the function that starts the harness of a reference implementation at its site.
func (f *fuzz) startReference(at side, dir string, h suite.Harness, alone bool, log io.Writer) func(context.Context) (*harness.Session, error) {
	return func(ctx context.Context) (*harness.Session, error) {
		o, err := f.site(ctx, at)
		if err != nil {
			return nil, err
		}
		isolated := append(o.paths(h.Env), o.path(), "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1")
		c := o.command(h, log, slices.Concat(isolated, f.deviceEnv())...)
		c.Alone = alone
		variables := slices.Clone(oracleVariables)
		for name := range h.Env {
			variables = append(variables, name)
		}
		if err := o.confine(ctx, &c, dir, build.View{Variables: variables, Devices: f.Device().Kind != gpu.CPU}); err != nil {
			return nil, err
		}
		return harness.Start(ctx, c, f.hello())
	}
}

// brokenReference is a reference that could not be prepared.
type brokenReference struct{ err error }

// Compute implements oracle.Reference.
func (b brokenReference) Compute(context.Context, correctness.Task, bool) (correctness.Expected, error) {
	return correctness.Expected{}, b.err
}
