package discover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// SuiteFile is the name of the suite file in a repository.
const SuiteFile = "pawl.yaml"

// Setup writes a suite into a repository and checks that it runs.
type Setup struct {
	Dir   string
	Name  string // of the suite
	Force bool   // overwrite an existing suite
	Hello harness.Hello
	// Build runs a build command in Dir.
	Build func(context.Context, suite.Build) error
	// Say reports progress; it must not be nil.
	Say func(string)
}

// Result holds what Setup wrote and learned.
type Result struct {
	Wrote  []string // files, relative to Dir
	Suite  *suite.Suite
	Answer *Answer // nil for a plain command, and if the harness did not answer
	// Problem is why the suite does not run yet. The files are written nevertheless.
	Problem error
}

// ExistsError reports that a file already exists.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return e.Path + " already exists" }

// Run writes the suite and the files it needs, builds, asks the harness for its cases and adds
// them to the suite.
func (s Setup) Run(ctx context.Context, x Finding) (res Result, err error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return Result{}, fmt.Errorf("cannot set up %s: %w", s.Dir, err)
	}
	defer root.Close()
	w := &writer{root: root}
	defer func() { res.Wrote = w.wrote }()
	if _, err := w.root.Lstat(SuiteFile); !errors.Is(err, fs.ErrNotExist) && !s.Force {
		return Result{}, &ExistsError{SuiteFile}
	}
	x, res.Problem = s.askCMake(ctx, w, x)
	if err := s.writeFirst(w, x); err != nil {
		return Result{}, err
	}
	if res.Problem == nil {
		res.Answer, res.Problem = s.verify(ctx, w, x)
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	if res.Problem == nil && res.Answer != nil {
		if data, err := Compose(s.Name, x, res.Answer); err != nil {
			res.Problem = fmt.Errorf("the harness runs, but what it lists is not a valid suite: %w", err)
		} else if err := w.replace(SuiteFile, data); err != nil {
			return res, err
		}
	}
	res.Suite, err = suite.Load(filepath.Join(s.Dir, SuiteFile))
	return res, err
}

// writeFirst writes everything that can be written without running anything.
func (s Setup) writeFirst(w *writer, x Finding) error {
	data, err := Compose(s.Name, x, nil)
	if err != nil {
		return err
	}
	if x.Level == Kernel {
		if old, err := w.root.ReadFile(x.Source); !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(old, x.Adds[0].Content) {
			return &ExistsError{x.Source}
		}
	}
	for _, f := range x.Adds {
		if err := w.create(f); err != nil {
			return err
		}
	}
	if err := w.replace(SuiteFile, data); err != nil {
		return err
	}
	if err := w.root.MkdirAll(path.Dir(SchemaFile), 0o755); err != nil {
		return fmt.Errorf("cannot write the schema: %w", err)
	}
	if err := w.replace(SchemaFile, suite.Schema()); err != nil {
		return err
	}
	// A program committed by accident would be in the base's checkout, and make would
	// consider it built.
	// The schema is committed, because pawl.yaml names it.
	return w.ignore(slices.Concat([]string{"results/"}, x.Makes, x.Build.Outputs))
}

// noProgram matches the messages of make and shells for a program that is not installed.
var noProgram = lazyregexp.New(`(?m)^\s*make(?:\[\d+\])?: \S+: No such file or directory$|: (?:command )?not found$`)

// verify builds and asks the harness for its cases. If the SDK's file is missing, it writes the file
// beside the source, where compilers and Python search first, and tries again.
func (s Setup) verify(ctx context.Context, w *writer, x Finding) (*Answer, error) {
	a, err := s.buildAndAsk(ctx, x)
	if err == nil || x.SDK == "" {
		return a, err
	}
	file := sdkFile(x.SDK, path.Dir(x.Source))
	if _, statErr := w.root.Lstat(file.Path); !errors.Is(statErr, fs.ErrNotExist) {
		return a, err
	}
	named := strings.Contains(err.Error(), strings.TrimSuffix(x.SDK, ".py"))
	// If the compiler is missing, it is unknown whether it would find the header.
	if untried := x.SDK == sdkHeader && noProgram.MatchString(err.Error()); !named && !untried {
		return a, err
	}
	s.Say("writing " + file.Path + ", which " + x.Source + " needs")
	if createErr := w.create(file); createErr != nil || !named {
		return a, errors.Join(err, createErr)
	}
	return s.buildAndAsk(ctx, x)
}

func (s Setup) buildAndAsk(ctx context.Context, x Finding) (*Answer, error) {
	loaded, err := suite.Load(filepath.Join(s.Dir, SuiteFile))
	if err != nil {
		return nil, err
	}
	candidate, _ := loaded.Implementation(suite.Candidate)
	if candidate.Build.Command != "" {
		s.Say("building: " + candidate.Build.Command)
		if err := s.Build(ctx, candidate.Build); err != nil {
			return nil, err
		}
	}
	if x.Level == Tool {
		return nil, nil // it lists its cases only while measuring
	}
	s.Say("asking " + candidate.Harness.Command + " for its cases")
	return Ask(ctx, harness.Command{
		Line: candidate.Harness.Command, Dir: s.Dir, Silence: candidate.Harness.Timeout,
	}, s.Hello)
}
