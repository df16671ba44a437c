package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

var errNoRocprof = errors.New("rocprofv3 is not installed")

const rocprofFix = "install rocprofiler-sdk, which comes with ROCm"

// rocprofCounters are the counters that rules use, by run: those of one run fit the counters of an MI300's units.
var rocprofCounters = [][]string{
	{"OccupancyPercent", "VALUBusy", "SALUBusy", "VALUUtilization"},
	{"LDSBankConflict", "MfmaUtil"},
	{"FETCH_SIZE"},
	{"WRITE_SIZE", "L2CacheHit"},
}

var rocprofVersion = lazyregexp.New(`(?i)version:?\s+v?([0-9]+(?:\.[0-9]+)+)`)

func (o TraceOptions) openRocprof(ctx context.Context) (program, error) {
	p := program{path: o.find(FindRocprof)}
	if p.path == "" {
		return program{}, errNoRocprof
	}
	said, err := p.output(ctx, 0, "--version")
	if err != nil {
		return program{}, fmt.Errorf("cannot get the version of %s: %w", p.path, err)
	}
	if m := rocprofVersion.FindSubmatch(said); m != nil {
		p.version = string(m[1])
	}
	return p, nil
}

// Rocprof profiles runs of a target on an AMD GPU: first a trace, whose clock is not the harness's, then the counters,
// a few in each further run. Counters that a chip or a release does not have are left out, with a note.
func Rocprof(ctx context.Context, o TraceOptions, t Target) (Result, error) {
	r, err := o.rocprof(ctx, t)
	trouble, ok := troubleOf(err, "rocprofv3", t)
	if !ok {
		return r, err
	}
	if errors.Is(err, errNoRocprof) {
		trouble.Fix = rocprofFix
	}
	return Result{}, trouble
}

func (o TraceOptions) rocprof(ctx context.Context, t Target) (Result, error) {
	p, err := o.openRocprof(ctx)
	if err != nil {
		return Result{}, err
	}
	// Not in t.Dir: rocprofv3 replaces words between percent signs in names of folders.
	dir, err := os.MkdirTemp("", "pawl-rocprof-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	runs := o.runs()
	found, err := p.rocprof(ctx, t, filepath.Join(dir, "trace"), runs, "--kernel-trace")
	if err != nil {
		return Result{}, err
	}
	var notes []string
	if err := profile.DropWarmup(found, t.Warmup, runs); err != nil && !t.Plain {
		notes = append(notes, fmt.Sprintf("rocprofv3: warm-up runs are in the times: %v", err))
	}
	for i, counters := range rocprofCounters {
		counted, err := p.rocprof(ctx, t, filepath.Join(dir, strconv.Itoa(i)), 1, append([]string{"--pmc"}, counters...)...)
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("rocprofv3 did not count %s: %v", strings.Join(counters, ", "), err))
			continue
		}
		profile.AddCounters(found, counted)
	}
	found.Tool.Version = p.version
	found.Tool.Settings = []profile.Setting{{Name: "runs", Value: strconv.Itoa(runs)}}
	return Result{Profile: found, Notes: notes}, nil
}

// rocprof runs the target once under rocprofv3 and reads what it wrote: a file for each process that used the GPU.
func (p program) rocprof(ctx context.Context, t Target, dir string, runs int, what ...string) (*profile.Profile, error) {
	wrap := append([]string{p.path}, what...)
	wrap = append(wrap, "--output-format", "csv", "--output-directory", dir, "--output-file", "%pid%", "--")
	talk := &shell.Head{Max: 1 << 20}
	if err := drive(ctx, t, wrap, driveOptions{tool: "rocprofv3", slower: 5, iterations: runs, log: talk}); err != nil {
		return nil, err
	}
	all, err := readRocprof(dir)
	if err != nil {
		return nil, &Error{Tool: "rocprofv3", What: t.what(), Why: err.Error(), Fix: "check that the run starts a kernel on this GPU; rocprofv3 said: " + lastLine(tail(talk))}
	}
	if all.Launches = slices.DeleteFunc(only(all.Launches, t.Kernel), ownKernel); len(all.Launches) == 0 {
		return nil, &Error{Tool: "rocprofv3", What: t.what(), Why: fmt.Sprintf("no kernel in the profile matches %q", t.Kernel), Fix: "check profile.kernel of the benchmark"}
	}
	return all, nil
}

// maxRocprofFiles bounds the processes of a target whose launches are read.
const maxRocprofFiles = 16

// readRocprof reads the files in a folder or one below: some releases make a folder for a run.
func readRocprof(dir string) (*profile.Profile, error) {
	var files []string
	for _, pattern := range []string{"*_kernel_trace.csv", "*/*_kernel_trace.csv", "*_counter_collection.csv", "*/*_counter_collection.csv"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // fails only on a bad pattern
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, errors.New("rocprofv3 wrote no file: nothing was captured")
	}
	var all *profile.Profile
	for _, name := range files[:min(len(files), maxRocprofFiles)] {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		p, err := profile.Read(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if all == nil {
			all = p
		} else {
			all.Launches = append(all.Launches, p.Launches...)
		}
	}
	for i := range all.Launches {
		all.Launches[i].ID = i
	}
	return all, nil
}

// ownKernel reports whether a kernel is of pawl's SDK or of the HIP runtime, which fills and copies memory with kernels.
func ownKernel(l profile.Launch) bool {
	name := functionName(l.Kernel)
	return strings.HasPrefix(name, "pawli_") || strings.HasPrefix(name, "__amd_rocclr_")
}

// lastLine returns the last line of a text that has words in it.
func lastLine(text []byte) string {
	last := "nothing"
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	return strings.ToValidUTF8(last[:min(len(last), 200)], "?")
}
