package trial

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// maxResults is the maximum number of result files of one command.
const maxResults = 1_000

// isGlob reports whether an output names several files.
func isGlob(output string) bool { return strings.Contains(output, "*") }

// results returns the files that the command's output names, sorted.
func (c *Commands) results() ([]string, error) {
	if !isGlob(c.Output) {
		return []string{c.Output}, nil
	}
	root, err := os.OpenRoot(c.Command.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the output of %q: %w", c.Command.Line, err)
	}
	defer root.Close()
	list, err := fs.Glob(root.FS(), path.Clean(c.Output))
	if err == nil && len(list) > maxResults {
		err = fmt.Errorf("%d files match, the limit is %d", len(list), maxResults)
	}
	if err != nil {
		return nil, fmt.Errorf("output %s of %q: %w", c.Output, c.Command.Line, err)
	}
	return list, nil
}

// removeStale removes the results of an earlier run, so that they are never taken for new ones.
func (c *Commands) removeStale() error {
	if c.Output == "" {
		return nil
	}
	list, err := c.results()
	if err != nil {
		return err
	}
	for _, name := range list {
		if err := harness.RemoveStaleResult(c.Command.Dir, name); err != nil {
			return err
		}
	}
	return nil
}

// files reads all files that match the output. What the * stands for becomes part of a case's name, because two programs may
// use the same names.
func (r *commandRun) files(ctx context.Context) (*measure.Run, error) {
	list, err := r.results()
	if err != nil {
		return nil, err
	}
	var all *measure.Run
	for _, name := range list {
		info, err := os.Stat(path.Join(r.Command.Dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // NVBench keeps its samples in folders beside the file
		}
		run, err := r.file(ctx, name, r.Format)
		if err != nil {
			return nil, err
		}
		for i := range run.Cases {
			run.Cases[i].Benchmark = matched(r.Output, name) + "." + run.Cases[i].Benchmark
		}
		if all == nil {
			all = run
			continue
		}
		all.Cases = append(all.Cases, run.Cases...)
		all.Warnings = append(all.Warnings, run.Warnings...)
	}
	if all == nil {
		return nil, fmt.Errorf("command %q ran, but wrote no file %s", r.Command.Line, r.Output)
	}
	return all, nil
}

// matched returns the part of a name that the glob leaves open.
func matched(glob, name string) string {
	before, _, _ := strings.Cut(glob, "*")
	after := glob[strings.LastIndex(glob, "*")+1:]
	return strings.TrimSuffix(strings.TrimPrefix(name, before), after)
}
