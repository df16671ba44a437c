package gpucheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
)

// Options describe what to check.
type Options struct {
	Device   device.Device
	Version  string   // of pawl
	CacheDir string   // for the launcher
	Env      []string // added to the environment of the launcher
	Locks    device.LockOptions
	// Hold returns a command that takes the device, locks its clocks, prints a line and waits. Check 22 kills it. If it is
	// nil, that check is not run.
	Hold func(context.Context) *exec.Cmd
	Only []int // the checks to run; nil for all
	// Progress is called before each check.
	Progress func(number int, name string)
	Now      func() time.Time
}

// exam holds what the checks share.
type exam struct {
	Options
	id       gpu.Identity
	launcher string
	dir      string // for files of the checks
	lease    *device.Lease
	report   *Report
	groups   map[string]error // groups of facts that were measured, and how that ended
}

// Seconds is about how long all checks take.
func Seconds() int {
	n := 0
	for _, c := range checks {
		n += c.seconds
	}
	return n
}

// Run runs the checks. An error means that they could not run at all.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &exam{Options: o, id: o.Device.Identity(), groups: map[string]error{}}
	e.report = newReport(o.Version, e.id, o.Now())
	if e.id.Kind != gpu.NVIDIA {
		return nil, fmt.Errorf("pawl doctor --gpu checks NVIDIA GPUs, and %s is none", e.id.Name)
	}
	state, err := o.Device.State(ctx)
	if err != nil && state.At.IsZero() {
		return nil, err
	}
	e.report.PowerCap = state.PowerCapW
	if e.launcher, err = launch.Build(ctx, launch.CUDA, nil, o.CacheDir); err != nil {
		return nil, err
	}
	if e.dir, err = os.MkdirTemp("", "pawl-gpu-check-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(e.dir)
	if err := os.WriteFile(e.kernels(), launch.CheckKernels(), 0o600); err != nil {
		return nil, err
	}
	if e.lease, err = device.Acquire(ctx, o.Device, o.Locks); err != nil {
		return nil, err
	}
	e.all(ctx)
	if e.lease == nil { // check 22 could not take the device again
		return e.report, context.Cause(ctx)
	}
	return e.report, errors.Join(context.Cause(ctx), e.lease.Release(ctx))
}

func (e *exam) all(ctx context.Context) {
	for _, c := range checks {
		if e.Only != nil && !slices.Contains(e.Only, c.number) || ctx.Err() != nil {
			continue
		}
		if e.Progress != nil {
			e.Progress(c.number, c.name)
		}
		r := Result{Number: c.number, Name: c.name, Pass: c.pass}
		r.State, r.Message = c.run(ctx, e)
		if r.Message = scrub(strings.Join(strings.Fields(r.Message), " "), e.id); r.State == Failed {
			r.Means = c.means
		}
		if ctx.Err() == nil { // an interrupted check has no result
			e.report.Results = append(e.report.Results, r)
		}
	}
}

func (e *exam) kernels() string { return filepath.Join(e.dir, "check.ptx") }

func passed(format string, args ...any) (State, string) { return Passed, fmt.Sprintf(format, args...) }

func failed(format string, args ...any) (State, string) { return Failed, fmt.Sprintf(format, args...) }

func notRun(format string, args ...any) (State, string) { return NotRun, fmt.Sprintf(format, args...) }

// decide returns passed or failed with the same message.
func decide(ok bool, format string, args ...any) (State, string) {
	if ok {
		return passed(format, args...)
	}
	return failed(format, args...)
}

// measured returns facts of a group, which is measured at the first call.
func (e *exam) measured(ctx context.Context, group string, names ...string) (values [][]float64, err error) {
	if _, done := e.groups[group]; !done {
		facts, err := e.probe(ctx, group)
		maps.Copy(e.report.Facts, facts)
		e.groups[group] = err
	}
	for _, name := range names {
		list, ok := e.report.Facts[name]
		if !ok || len(list) == 0 {
			return nil, errors.Join(e.groups[group], &missingFactError{name})
		}
		values = append(values, list)
	}
	return values, nil
}

// missingFactError is a fact that the launcher did not measure.
type missingFactError struct{ name string }

func (m *missingFactError) Error() string { return m.name + " was not measured" }

// without returns the result of a check that lacks facts: failed if measuring them failed.
func without(err error) (State, string) {
	if _, only := err.(*missingFactError); only { //nolint:errorlint // joined with another error it is not the cause
		return notRun("%v", err)
	}
	return failed("%v", err)
}

// maxFactLines bounds what is read from the launcher.
const maxFactLines = 1 << 12

// probeLimit is how long a group of facts may take; the longest takes about 15 seconds.
const probeLimit = 5 * time.Minute

// probe measures a group of facts. With an error, it returns what was measured before it.
func (e *exam) probe(ctx context.Context, group string) (map[string][]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.launcher, "check", e.id.UUID, group)
	cmd.Dir = e.dir
	cmd.Env = append(os.Environ(), e.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	facts := map[string][]float64{}
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan() && n < maxFactLines; n++ {
		var f struct {
			Fact   string    `json:"fact"`
			Values []float64 `json:"values"`
		}
		if json.Unmarshal(lines.Bytes(), &f) == nil && f.Fact != "" {
			facts[f.Fact] = append(facts[f.Fact], f.Values...)
		}
	}
	if err != nil {
		words := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "pawl.h: ")
		err = fmt.Errorf("measuring %s: %s (%w)", group, words[:min(len(words), 400)], err)
	}
	return facts, err
}
