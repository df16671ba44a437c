package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// side is one implementation in a run: its sources, builds and commands.
type side struct {
	name string // name in the record
	from string // implementation of the suite that it is built as: a base is a candidate
	dir  string // where its commands run
	root string // root of its tree: the repository's, or empty if there is none
	// own is the suite of the side's commit. It is nil if the commit has no readable suite; ownErr
	// says why. It is not loaded for the working tree.
	own    *suite.Suite
	ownErr error
	// suite is the run's definition combined with the recipe of own; nil for the run's suite.
	suite *suite.Suite
	// overlay lists the definition files that differ in the side's commit or are missing there.
	overlay []string
	impl    measure.Implementation
}

// prepare checks out, builds and identifies every side, the candidate first.
func (r *Setup) prepare(ctx context.Context) error {
	lineup := r.usualSides
	if len(r.Points) > 0 {
		lineup = r.pointSides
	}
	names, err := lineup(ctx)
	if err != nil {
		return err
	}
	if repo, err := build.Open(ctx, r.Dir); err == nil {
		head, dirty, _ := repo.Head(ctx) // a repository without a commit has none
		for i := range names {
			if s := &names[i]; s.impl.Commit == "" {
				s.impl.Commit, s.impl.Dirty = head, dirty
			}
			if s := &names[i]; s.root == "" {
				if _, err := repo.Inside(s.dir); err == nil {
					s.root = repo.Root
				}
			}
		}
	}
	if err := r.buildAll(ctx, names); err != nil {
		return err
	}
	r.sides = slices.DeleteFunc(names, func(s side) bool { return s.name == "" })
	if err := r.setupIsolation(ctx); err != nil {
		return err
	}
	if err := r.prepareReferences(ctx); err != nil {
		return err
	}
	return r.endHandover(ctx)
}

// usualSides returns the candidate, the sides it is compared with, and the references of the suite.
func (r *Setup) usualSides(ctx context.Context) ([]side, error) {
	names := []side{{name: suite.Candidate, from: suite.Candidate, dir: r.Dir}}
	if r.Base != "" {
		base, err := r.checkout(ctx, suite.Base, r.Base)
		if err != nil {
			return nil, err
		}
		if err := r.define(&base); err != nil {
			return nil, err
		}
		commits := []side{base}
		if baseline, ok := r.baseline(ctx, base.impl.Commit); ok {
			commits = append(commits, baseline)
		}
		for _, s := range commits {
			err := r.setSideSuite(&s)
			if err == nil {
				err = s.define(r.Dir)
			}
			switch {
			case err == nil:
				names = append(names, s)
			case s.name == BaselineSide:
				r.without(s.impl.Commit, err)
			default:
				return nil, &trial.SideError{Side: s.name, Err: err}
			}
		}
	}
	rivals, err := r.rivals(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, rivals...)
	if r.Again {
		names = append(names, side{name: suite.Base, from: suite.Candidate, dir: r.Dir})
	}
	if r.hasSlowedSide() {
		names = append(names, side{name: SlowedSide, from: suite.Candidate, dir: r.Dir})
	}
	for _, i := range r.references() {
		names = append(names, side{name: i.Name, from: i.Name, dir: r.Dir})
	}
	return names, nil
}

// HintUntrackedFiles explains the usual reason why a base fails that worked when it was the working tree.
const HintUntrackedFiles = "the base's checkout has only tracked files: generated, ignored and uncommitted files are missing unless build.command creates them"

// explainBase adds HintUntrackedFiles to an error of the base.
func (r *Setup) explainBase(err error) error {
	if h, ok := errors.AsType[*harness.Error](err); ok && (h.Kind == harness.Foreign || h.Kind == harness.Changed) {
		return err
	}
	if e, ok := errors.AsType[*trial.SideError](err); ok && e.Side == suite.Base && !r.Again {
		err = fmt.Errorf("%w\n  %s", err, HintUntrackedFiles)
		if r.baseHasNoSuite {
			err = fmt.Errorf("%w\n  the base has no suite: list the files of the change that its build needs under definition: in the suite", err)
		}
	}
	return err
}

// base returns the repository of the base and the suite's path in it. A ref
// that is not a commit is a usage error.
func (o Options) base(ctx context.Context) (repo *build.Repository, inside string, err error) {
	if repo, err = build.Open(ctx, o.Dir); err != nil {
		return nil, "", &UsageError{fmt.Errorf("--base requires a git repository: %w", err)}
	}
	if inside, err = repo.Inside(o.Dir); err != nil {
		return nil, "", &UsageError{err}
	}
	if _, err := repo.Commit(ctx, o.Base); err != nil {
		return nil, "", &UsageError{err}
	}
	return repo, inside, nil
}

// checkout checks out a commit into a separate worktree and returns it as a side.
func (r *Setup) checkout(ctx context.Context, name, ref string) (side, error) {
	own := r.Options
	own.Base = ref
	repo, inside, err := own.base(ctx)
	if err != nil {
		return side{}, err
	}
	tree, err := repo.Checkout(ctx, ref)
	if err != nil {
		return side{}, err
	}
	r.AtEnd(func(ctx context.Context) error { return tree.Remove(ctx) })
	root, err := filepath.EvalSymlinks(tree.Dir) // processes report loaded files by real path
	if err != nil {
		return side{}, err
	}
	s := side{name: name, from: suite.Candidate, dir: filepath.Join(root, inside), root: root}
	s.impl.Commit, s.impl.Ref = tree.Commit, ref
	if err := makeFolder(root, inside); err != nil {
		return side{}, &trial.SideError{Side: name, Err: fmt.Errorf("the folder %s is not in %s and cannot be created there: %w", inside, ref, err)}
	}
	if r.Path != "" {
		s.own, s.ownErr = suite.Load(filepath.Join(s.dir, filepath.Base(r.Path)))
	}
	return s, nil
}

// makeFolder creates the suite's folder if a commit does not have it yet.
func makeFolder(tree, inside string) error {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	return errors.Join(root.MkdirAll(inside, 0o755), root.Close())
}

// setSideSuite sets the suite of a commit: the definition of the run, with the commit's own recipe and
// tunables. It also uses the commit's own harness command, unless the commit gets the change's
// definition files, which that command may not know. A commit without a suite is built and started as in the change.
func (r *Setup) setSideSuite(s *side) (err error) {
	if s.own == nil {
		return nil
	}
	if s.suite, err = r.Suite.WithAnswerOf(s.own, len(s.overlay) == 0); err != nil {
		return fmt.Errorf("its recipe does not fit the benchmarks of the change: %w", err)
	}
	return nil
}

// suiteOf returns the suite that a side is built and started by.
func (r *Setup) suiteOf(s side) *suite.Suite {
	if s.suite != nil {
		return s.suite
	}
	return r.Suite
}

// variants returns what to build and start for a side.
func (r *Setup) variants(s side) []suite.Variant {
	return r.suiteOf(s).VariantsOf(s.from)
}

// command returns the command that starts a variant's harness for a side.
func (s side) command(h suite.Harness, log io.Writer, extra ...string) harness.Command {
	return harness.Command{
		Line: h.Command, Dir: s.dir, Silence: h.Timeout, Log: log,
		Env: append(suite.Variables(h.Env), extra...),
	}
}

// start returns the command of a variant's harness. pawl's launcher gets no search paths: it must
// not load anything from a side's tree.
func (r *Setup) start(s side, h suite.Harness, log io.Writer) harness.Command {
	var own []string
	if !r.checked() {
		own = s.paths(h.Env)
	}
	c := s.command(h, log, slices.Concat(own, r.deviceEnv())...)
	c.Alone, c.Loaded = r.alone(s.from, h), r.loaded(s)
	c.Unchanged = func() error { return r.unchanged(s) }
	r.isolate(s, &c)
	return c
}

// alone reports whether h starts a program that runs only the reference and not also the candidate.
func (r *Setup) alone(implementation string, h suite.Harness) bool {
	candidate, _ := r.Suite.Implementation(suite.Candidate)
	return implementation != "" && implementation != suite.Candidate && h.Command != candidate.Harness.Command
}

// paths returns PYTHONPATH and LD_LIBRARY_PATH with what the side installed and its own tree first. Without it, a package
// installed with pip install -e, or a library in LD_LIBRARY_PATH, comes from the working tree on
// both sides.
func (s side) paths(env map[string]string) []string {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return nil
	}
	prefix, err := s.prefix()
	if err != nil {
		return nil
	}
	own := s.installed()
	python, libraries := slices.Concat(own.python, s.modules(dir)), own.libraries
	for _, o := range s.impl.Build.Outputs {
		if folder := filepath.Join(dir, filepath.Dir(o.Path)); strings.Contains(filepath.Base(o.Path), ".so") && !slices.Contains(libraries, folder) {
			libraries = append(libraries, folder)
		}
	}
	list := []string{PrefixVariable + "=" + prefix, searchPath("PYTHONPATH", python, env)}
	if len(libraries) > 0 {
		list = append(list, searchPath("LD_LIBRARY_PATH", libraries, env))
	}
	if len(own.programs) > 0 {
		list = append(list, searchPath("PATH", own.programs, env))
	}
	return list
}

// modules returns the folders of the side's tree that may contain Python modules. dir is the
// absolute folder of the side.
func (s side) modules(dir string) []string {
	var list []string
	for _, root := range []string{dir, s.root} {
		if root != "" && !slices.Contains(list, root) {
			list = append(list, root)
			if src := filepath.Join(root, "src"); isFolder(src) {
				list = append(list, src)
			}
		}
	}
	return list
}

// searchPath sets a variable to folders, followed by its value in the suite or in pawl's environment.
func searchPath(name string, folders []string, env map[string]string) string {
	was, ok := env[name]
	if !ok {
		was = os.Getenv(name)
	}
	if was != "" {
		folders = append(folders, was)
	}
	return name + "=" + strings.Join(folders, string(filepath.ListSeparator))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
