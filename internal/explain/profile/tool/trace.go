package tool

import (
	"errors"
	"io/fs"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// TraceOptions configure a tool that traces runs: nsys or rocprofv3. The zero value works for this machine.
type TraceOptions struct {
	Program string // path of the tool; empty to search for it
	Runs    int    // number of traced runs; 0 for 20

	Root fs.FS  // file system of the machine; nil for this one
	Path string // search path for programs; empty for PATH
}

// defaultTracedRuns is the default number of traced runs: enough for a median.
const defaultTracedRuns = 20

func (o TraceOptions) runs() int {
	if o.Runs <= 0 {
		return defaultTracedRuns
	}
	return o.Runs
}

// find returns the path of the tool; empty if it is not installed.
func (o TraceOptions) find(search func(fs.FS, shell.Search) (string, bool)) string {
	if o.Program != "" {
		return o.Program
	}
	machine := NcuOptions{Root: o.Root, Path: o.Path}
	at, _ := search(machine.root(), machine.search())
	return at
}

// troubleOf turns an error of a tool into one that names the tool and the target. It reports false if there is nothing to
// add.
func troubleOf(err error, name string, t Target) (*Error, bool) {
	if _, said := errors.AsType[*Error](err); err == nil || said {
		return nil, false
	}
	return &Error{Tool: name, What: t.what(), Why: err.Error(), Err: err}, true
}
