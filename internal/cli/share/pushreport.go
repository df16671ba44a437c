package share

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// preview prints what would be sent.
func (f *pushFlags) preview(ctx context.Context, args []string) error {
	r, files, err := f.report(ctx, args)
	if errors.Is(err, client.ErrIdentical) {
		f.Say(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	f.describe(r, files)
	if f.json {
		return command.WriteJSON(f.Out, r)
	}
	return nil
}

// report creates the report of the named results.
func (f *pushFlags) report(ctx context.Context, args []string) (*client.Report, []client.File, error) {
	results := "results"
	if len(args) > 0 {
		results = args[0]
	}
	in := client.Input{Results: results, Now: f.Clock()()}
	_, job, err := f.CurrentJob()
	if err != nil {
		return nil, nil, err
	}
	in.Branch, in.Pull = job.Branch, job.Pull
	if repo, err := build.Open(ctx, "."); err == nil {
		in.Repository = repo.Root
		in.Path = kernelPaths(repo.Root)
	}
	r, files, err := client.NewReport(ctx, in)
	switch {
	case errors.Is(err, client.ErrNothingToReport):
		return nil, nil, command.Exit(command.ExitNoAnswer, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, command.Usage(errors.Join(err, errors.New("  run `pawl run` or `pawl bench` first, or name another folder: pawl push FOLDER")))
	}
	if _, ok := errors.AsType[*client.InvalidError](err); ok {
		return nil, nil, command.Usage(err)
	}
	return r, files, err
}

// kernelPaths returns a function that finds the source file of a benchmark: of the sources that the
// suite names, the one whose name contains the benchmark's, or else the first; without sources, the
// suite itself. The owner of that file is notified when the kernel gets slower. A record names its suite
// relative to where pawl ran, which is assumed to be this folder.
func kernelPaths(root string) func(measure.SuiteRef, string) string {
	known := map[string][]string{}
	return func(ref measure.SuiteRef, benchmark string) string {
		if ref.Path == "" {
			return ""
		}
		files, ok := known[ref.Path]
		if !ok {
			files = suiteFiles(root, ref.Path)
			known[ref.Path] = files
		}
		for _, s := range files {
			if strings.Contains(strings.ToLower(path.Base(s)), strings.ToLower(benchmark)) {
				return s
			}
		}
		return cmp.Or(files...)
	}
}

// suiteFiles returns the files that a suite's candidate is built from, then the suite, as paths in the
// repository.
func suiteFiles(root, name string) []string {
	file, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved // match the path that git has for the working tree
	}
	globs := []string{}
	if s, err := suite.Load(file); err == nil && len(s.Implementations) > 0 {
		globs = slices.Concat(s.Implementations[0].Build.Sources, s.Implementations[0].Harness.Files)
	}
	var list []string
	add := func(file string) {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			list = append(list, filepath.ToSlash(rel))
		}
	}
	for _, glob := range globs {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(file), filepath.FromSlash(glob))) // an invalid glob matches nothing
		for _, f := range found {
			add(f)
		}
	}
	add(file)
	return list
}
