package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

var errNoNsys = errors.New("nsys is not installed")

func (o TraceOptions) openNsys(ctx context.Context) (program, error) {
	at := o.find(FindNsys)
	if at == "" {
		return program{}, errNoNsys
	}
	return openProgram(ctx, at, "profile", "--help")
}

// Nsys traces runs of a target with Nsight Systems: the start and end of each kernel. It needs no
// permission for counters, and its clock is not the harness's.
func Nsys(ctx context.Context, o TraceOptions, t Target) (Result, error) {
	r, err := o.nsys(ctx, t)
	trouble, ok := troubleOf(err, "nsys", t)
	if !ok {
		return r, err
	}
	if errors.Is(err, errNoNsys) {
		trouble.Fix = "install Nsight Systems"
	} else if why, fix, found := findComplaint(outputOf(err)); found {
		trouble.Why, trouble.Fix = why, fix
	}
	return Result{}, trouble
}

func (o TraceOptions) nsys(ctx context.Context, t Target) (Result, error) {
	p, err := o.openNsys(ctx)
	if err != nil {
		return Result{}, err
	}
	stem := filepath.Join(t.Dir, t.Stem)
	report := stem + ".nsys-rep"
	if err := removeStale(report, stem+".qdstrm", stem+".sqlite"); err != nil {
		return Result{}, err
	}
	runs := o.runs()
	talk := &shell.Head{Max: 1 << 20}
	wrap := append([]string{p.path}, nsysArgs(t, stem)...)
	err = drive(ctx, t, wrap, driveOptions{tool: "nsys", slower: 3, iterations: runs, exact: t.Exact, env: nsysEnv(t), log: talk})
	if err != nil {
		return Result{}, err
	}
	if err := p.complete(ctx, stem, talk.String()); err != nil {
		return Result{}, &Error{Tool: "nsys", What: t.what(), Why: err.Error(), Fix: "check that the run is marked and starts a kernel on this GPU", Err: err}
	}
	found, err := p.trace(ctx, report, stem+".sqlite")
	if err != nil {
		return Result{}, err
	}
	found.Tool.Version = p.version
	found.Tool.Settings = []profile.Setting{{Name: "runs", Value: strconv.Itoa(runs)}}
	if found.Launches = only(found.Launches, t.Kernel); len(found.Launches) == 0 {
		return Result{}, &Error{Tool: "nsys", What: t.what(), Why: fmt.Sprintf("no kernel in the trace matches %q", t.Kernel), Fix: "check profile.kernel of the benchmark"}
	}
	return Result{Profile: found, Files: []string{report}}, nil
}

// nsysArgs returns nsys's command line up to the program. Host sampling and context switches are
// off: they would disturb the trace and need permissions. Graphs are traced by node: by default a graph is one
// entry without the kernels in it.
func nsysArgs(t Target, stem string) []string {
	args := []string{"profile", "--trace=cuda,nvtx", "--cuda-graph-trace=node", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true", "--output=" + escapePercent(stem)}
	switch {
	case t.Exact:
		args = append(args, "--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--kill=none")
	case t.NVTX != "":
		args = append(args, "--capture-range=nvtx", "--nvtx-capture="+strings.TrimSuffix(t.NVTX, "/"), "--capture-range-end=none")
	}
	return args
}

// nsysEnv makes nsys recognize ranges with unregistered names.
func nsysEnv(t Target) []string {
	if t.Exact || t.NVTX == "" {
		return nil
	}
	return []string{"NSYS_NVTX_PROFILER_REGISTER_ONLY=0"}
}

// complete creates the report of a trace that nsys could not finish: some packages install its
// importer where nsys does not look.
func (p program) complete(ctx context.Context, stem, talk string) error {
	if _, err := os.Stat(stem + ".nsys-rep"); err == nil {
		return nil
	}
	if _, err := os.Stat(stem + ".qdstrm"); err != nil {
		return errors.New("nsys wrote no trace: nothing was captured")
	}
	at := p.importer()
	if at == "" {
		why, _, found := findComplaint(talk)
		if !found {
			why = "nsys wrote a trace but no report"
		}
		return errors.New(why)
	}
	if _, err := (program{path: at}).output(ctx, 0, "-i", stem+".qdstrm", "-o", stem+".nsys-rep"); err != nil {
		return fmt.Errorf("cannot create a report of the trace with %s: %w", at, err)
	}
	return removeStale(stem + ".qdstrm")
}

// importer returns the path of the program that creates reports; empty if there is none.
func (p program) importer() string {
	folders := []string{filepath.Join(filepath.Dir(p.path), "..", "host-linux-x64"), "/usr/lib/nsight-systems/host-linux-x64"}
	if target, err := filepath.EvalSymlinks(p.path); err == nil {
		folders = append(folders, filepath.Join(filepath.Dir(target), "..", "host-linux-x64"))
	}
	for _, folder := range folders {
		if at, runs := (shell.Search{}).Find(filepath.Join(folder, "QdstrmImporter")); runs {
			return at
		}
	}
	return ""
}

// traceReports are nsys's names for the list of all kernels, newest release first.
var traceReports = []string{"cuda_gpu_trace", "gputrace"}

// trace reads every launch of a report.
func (p program) trace(ctx context.Context, report, scratch string) (*profile.Profile, error) {
	known, err := p.output(ctx, 0, "stats", "--help-reports") // exits with 1 in some releases
	if len(known) == 0 && err != nil {
		return nil, fmt.Errorf("cannot list the reports of nsys: %w", err)
	}
	i := slices.IndexFunc(traceReports, func(name string) bool {
		return regexp.MustCompile(`(?m)^\s*` + name + `\b`).Match(known)
	})
	if i < 0 {
		return nil, fmt.Errorf("nsys %s has none of the reports %s", p.version, strings.Join(traceReports, ", "))
	}
	said, err := p.output(ctx, maxOutput, "stats", "--report", traceReports[i], "--format", "csv", "--timeunit", "nsec", "--force-export=true", "--sqlite", scratch, "--output", "-", report)
	if err := errors.Join(err, removeStale(scratch)); err != nil {
		return nil, err
	}
	if why, _, found := findComplaint(string(said)); found {
		return nil, errors.New(why)
	}
	return profile.ReadTrace(bytes.NewReader(said))
}

// only returns the launches of kernels whose name, or whole signature, matches.
func only(launches []profile.Launch, pattern string) []profile.Launch {
	re, err := regexp.Compile(pattern)
	if pattern == "" || err != nil { // the suite checked the pattern
		return launches
	}
	return slices.DeleteFunc(launches, func(l profile.Launch) bool {
		return !re.MatchString(functionName(l.Kernel)) && !re.MatchString(l.Kernel)
	})
}

// functionName returns a kernel's name as ncu matches it: without return type,
// namespaces, template and arguments.
func functionName(signature string) string {
	s := strings.ReplaceAll(signature, "(anonymous namespace)::", "")
	s, _, _ = strings.Cut(s, "(")
	s, _, _ = strings.Cut(s, "<")
	s = s[strings.LastIndexByte(s, ' ')+1:]
	return s[strings.LastIndexByte(s, ':')+1:]
}
