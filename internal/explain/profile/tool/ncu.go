package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// NcuOptions configure ncu. The zero value works for this machine.
type NcuOptions struct {
	Program string // path of ncu; empty to search for it
	Set     string // SetFull or SetCheap; empty for full

	Root    fs.FS         // file system of the machine; nil for this one
	Path    string        // search path for programs; empty for PATH
	LockDir string        // see device.LockOptions
	Wait    time.Duration // how long to wait while another pawl profiles on the device
}

func (o NcuOptions) root() fs.FS {
	if o.Root == nil {
		return os.DirFS("/")
	}
	return o.Root
}

func (o NcuOptions) search() shell.Search {
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	return shell.Search{Path: o.Path}
}

// open finds ncu and reads its version and options.
func (o NcuOptions) open(ctx context.Context) (program, error) {
	at := o.Program
	if at == "" {
		if at, _ = FindNcu(o.root(), o.search()); at == "" {
			return program{}, errNoNcu
		}
	}
	return openProgram(ctx, at, "--help")
}

var errNoNcu = errors.New("ncu is not installed")

// trouble explains a failure of ncu.
func (o NcuOptions) trouble(what string, err error) error {
	if t, ok := errors.AsType[*Error](err); ok {
		return t
	}
	t := &Error{Tool: "ncu", What: what, Why: err.Error(), Err: err}
	if errors.Is(err, errNoNcu) {
		t.Fix = "install Nsight Compute, which comes with the CUDA toolkit; run `pawl doctor --fix` to see how"
	} else if why, fix, found := findComplaint(outputOf(err)); found {
		t.Why, t.Fix = why, fix
	}
	return t
}

// ncuSlowdown is how many times longer a harness may be silent: each kernel runs about forty
// times, and its memory is saved and restored each time.
const ncuSlowdown = 60

// Ncu profiles one run of a target with Nsight Compute. It first checks for obstacles
// to reading the counters. It judges success by the report and not by the exit code,
// which is 0 even if nothing was profiled.
func Ncu(ctx context.Context, o NcuOptions, t Target) (Result, error) {
	p, err := o.open(ctx)
	if err != nil {
		return Result{}, o.trouble(t.what(), err)
	}
	r, err := o.run(ctx, p, t)
	if err != nil {
		return Result{}, o.trouble(t.what(), err)
	}
	return r, nil
}

func (o NcuOptions) run(ctx context.Context, p program, t Target) (Result, error) {
	var r Result
	if t.Device.Kind != gpu.NVIDIA {
		return r, fmt.Errorf("%s is not an NVIDIA GPU", t.Device.Name)
	}
	for _, b := range Obstacles(o.root(), t.Device) {
		if b.Stops {
			return r, &Error{Tool: "ncu", What: t.what(), Why: b.What, Fix: b.Fix}
		}
		r.Notes = append(r.Notes, b.What+": "+b.Fix)
	}
	set, note, err := ncuSet(ctx, p, o.Set, t.Device.ComputeCapability)
	if err != nil {
		return r, err
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	stem := filepath.Join(t.Dir, t.Stem)
	report, log := stem+".ncu-rep", stem+".ncu.log"
	if err := o.collect(ctx, p, t, set, report, log); err != nil {
		return r, err
	}
	if r.Profile, err = p.importReport(ctx, report); err != nil {
		return r, err
	}
	if err := p.text(ctx, report, stem+".txt"); err != nil {
		return r, err
	}
	r.Profile.Tool.Settings = ncuSettings(t, o.setName())
	r.Files = []string{report, stem + ".txt"}
	r.Notes = append(r.Notes, warnings(log, t)...)
	r.Profile.Notes = append(r.Profile.Notes, r.Notes...)
	return r, removeStale(log)
}

func (o NcuOptions) setName() string {
	if o.Set == "" {
		return SetFull
	}
	return o.Set
}

// collect runs the target under ncu, with exclusive use of the counters.
func (o NcuOptions) collect(ctx context.Context, p program, t Target, set []string, report, log string) error {
	release, err := holdCounters(ctx, o, t)
	if err != nil {
		return err
	}
	defer release()
	if err := removeStale(report, log); err != nil {
		return err
	}
	talk := &shell.Head{Max: 1 << 20}
	wrap := append([]string{p.path}, ncuArgs(p, t, set, report, log)...)
	err = drive(ctx, t, wrap, driveOptions{tool: "ncu", slower: ncuSlowdown, exact: t.Exact, env: ncuEnv, log: talk})
	said := readHead(log, 1<<20) // empty if ncu complained elsewhere
	return o.judge(t, said, talk.String(), report, err)
}

// holdCounters locks the counters of the device against other runs of pawl. It does not lock the
// device itself, which the run of this profile usually holds.
func holdCounters(ctx context.Context, o NcuOptions, t Target) (release func(), err error) {
	return device.LockNamed(ctx, "the counter set of "+t.Device.Name, "ncu-"+t.Device.LockName(), device.LockOptions{
		Dir: o.LockDir, Owner: "pawl profile " + t.Stem, Wait: o.Wait,
	})
}

// judge returns an error unless the report exists and the log has no error. ncu's messages explain
// more than the harness's exit.
func (o NcuOptions) judge(t Target, log, talk, report string, err error) error {
	_, missing := os.Stat(report)
	failed := len(marked(log, "==ERROR==")) > 0
	if err == nil && missing == nil && !failed {
		return nil
	}
	trouble := &Error{Tool: "ncu", What: t.what(), Err: err}
	var found bool
	if trouble.Why, trouble.Fix, found = findComplaint(log); !found && err != nil {
		// Before ncu opens its log, it prints errors to the program's output.
		trouble.Why, trouble.Fix, found = findComplaint(talk)
	}
	if err != nil && (!found || trouble.Why == programFailed || trouble.Why == noKernel) {
		return err
	}
	if !found {
		trouble.Why, trouble.Fix = "it wrote no report and gave no reason", "run it by hand to see why: "+cmp.Or(o.Program, "ncu")+" "+t.Command.Line
	}
	return trouble
}

// warnings returns ncu's own warnings, except those about settings that pawl requested.
func warnings(log string, t Target) []string {
	said := readHead(log, 1<<20)
	var list []string
	for _, w := range marked(said, "==WARNING==") {
		if clockControl(t) == "none" && strings.Contains(w, "unmodified GPU clocks") {
			continue
		}
		list = append(list, "ncu: "+w)
	}
	return list
}
