package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// maxLog bounds what is kept of pawl's output: a build can print without end.
const maxLog = 4 << 20

// measure runs pawl on a lease, to build or to measure, and returns its result. A run that pawl could not finish is a result too: the server
// decides what follows.
func (a *Agent) measure(ctx context.Context, d *leaseDir) (job.Result, error) {
	d.phase.Store("preparing")
	r := job.Result{Lease: d.lease.ID, Attempt: d.lease.Attempt}
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(d.lease.Seconds)*time.Second, errTooLong(d.lease))
	defer cancel()
	err := a.prepare(limited, d)
	if err == nil {
		err = a.takeBuilds(limited, d)
	}
	if err != nil {
		if _, final := errors.AsType[*permanentError](err); (final || limited.Err() != nil) && ctx.Err() == nil {
			r.Exit, r.Error, r.Seconds = job.ExitCannot, clip(err.Error(), maxReason), time.Since(d.began).Seconds()
			return r, nil
		}
		return r, err
	}
	d.phase.Store("measuring")
	if d.lease.Build {
		d.phase.Store("building")
	}
	counter := &roundCounter{path: measure.JournalPath(filepath.Join(d.file("out"), "current.json"))}
	stop := a.watch(d, counter)
	code, err := a.run(limited, d)
	stop()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	r.Exit, r.Rounds, r.Seconds = code, int(d.rounds.Load()), time.Since(d.began).Seconds()
	if run := readRun(d.file("out/current.json")); run != nil {
		r.Rounds, r.Driver = len(run.Rounds), clip(run.Device.Driver, 100)
	}
	if err != nil {
		r.Error = clip(err.Error(), maxReason)
	}
	if d.lease.Elsewhere() {
		r.Builds, err = a.packBuilds(d, code)
		return r, err
	}
	r.Record, err = pack(d)
	if errors.Is(err, disk.ErrTooLarge) || errors.Is(err, disk.ErrNotRegular) { // another host would measure all of it again, for the same
		r.Error, err = clip(err.Error(), maxReason), nil
	}
	return r, err
}

// run runs the loop of a gate.
func (a *Agent) run(ctx context.Context, d *leaseDir) (int, error) {
	l := d.lease
	if !l.Build {
		if code, ok := d.ended(); ok {
			return code, nil
		}
	}
	args := []string{"run", "--resume", "--no-keep", "--base=" + l.Base, "--suite=" + l.Suite, "--out=" + d.file("out")}
	if l.Trust != "" {
		args = append(args, "--trust="+l.Trust)
	}
	if l.Build {
		args = append(args, "--build-only")
	}
	if l.Elsewhere() && l.Host.Arch != "" {
		args = append(args, "--arch="+l.Host.Arch)
	}
	if _, err := os.Stat(d.file("builds")); err == nil || l.Elsewhere() {
		args = append(args, "--builds="+d.file("builds"))
	}
	return a.exec(ctx, d, nil, args...)
}

// ended returns the exit code of a run that an earlier process of the agent saw to its end, or nearly so, and did not keep as a result. pawl
// writes its documents and then removes the journal: to run it again would measure everything again.
func (d *leaseDir) ended() (code int, ok bool) {
	record := d.file("out/current.json")
	if _, err := os.Stat(measure.JournalPath(record)); !errors.Is(err, fs.ErrNotExist) {
		return 0, false
	}
	var doc struct {
		Run     string
		Verdict ratchet.Verdict
	}
	text, err := disk.ReadRegular(d.file("out/verdict.json"), job.MaxDocuments)
	if err != nil || json.Unmarshal(text, &doc) != nil || doc.Verdict == "" {
		return 0, false
	}
	run, err := measure.ScanFile(record, func(*measure.Case, measure.CaseRound) error { return nil })
	if err != nil || doc.Run != run.ID || len(run.Rounds) == 0 {
		return 0, false
	}
	return doc.Verdict.Severity().ExitCode(), true
}

// exec runs pawl in its own process group, and returns its exit code. Its answer on stdout goes to out; nil for the log.
// When ctx ends, pawl is asked to stop, which restores clocks and keeps finished rounds, and is killed if it does not.
func (a *Agent) exec(ctx context.Context, d *leaseDir, out io.Writer, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, a.pawl, args...)
	cmd.Dir, cmd.Env = d.file("work"), childEnv(os.Environ(), d.lease)
	log := &shell.Tail{Max: maxLog}
	cmd.Stdout, cmd.Stderr = log, log
	if out != nil {
		cmd.Stdout = out
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // pawl must not outlive the agent
	var kill *time.Timer
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		kill = time.AfterFunc(a.pace.stop, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		return syscall.Kill(group, syscall.SIGTERM)
	}
	cmd.WaitDelay = 2 * a.pace.stop
	err := cmd.Run()
	if kill != nil {
		kill.Stop()
	}
	if err := os.WriteFile(d.file("pawl.log"), log.Bytes(), 0o600); err != nil {
		return job.ExitCannot, fmt.Errorf("cannot keep pawl's output: %w", err)
	}
	return outcome(ctx, err, log.Bytes())
}

// outcome returns the exit code of pawl, and why there is no verdict if there is none.
func outcome(ctx context.Context, err error, log []byte) (int, error) {
	if ctx.Err() != nil {
		return job.ExitCannot, context.Cause(ctx)
	}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case !ended:
		return job.ExitCannot, fmt.Errorf("cannot run pawl: %w", err)
	case exit.ExitCode() < 0:
		return job.ExitCannot, fmt.Errorf("pawl: %w", err)
	case exit.ExitCode() < job.ExitCannot: // a verdict
		return exit.ExitCode(), nil
	default:
		return exit.ExitCode(), fmt.Errorf("pawl: %w: %s", err, bytes.TrimSpace(log[max(0, len(log)-1500):]))
	}
}

// passed are the variables that pawl and builds get from the agent's environment. Others may hold secrets of the host.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH", "PAWL_CACHE", "PAWL_CACHE_SIZE", "PAWL_LOCK_DIR", "PAWL_NVML_LIBRARY"}

// visible are the variables by which NVIDIA's and AMD's runtimes choose a GPU. The other vendor's is ignored.
var visible = []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}

// childEnv returns the environment of pawl: no configuration of git, and no other GPU than that of the lease. The GPU of
// a device that is not named by its UUID is the one that a batch system chose.
func childEnv(environ []string, l job.Lease) []string {
	env := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	named := strings.HasPrefix(l.Device, "GPU-") || strings.HasPrefix(l.Device, "MIG-")
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(passed, name) || slices.Contains(visible, name) && !named {
			env = append(env, kv)
		}
	}
	for _, name := range visible {
		if named {
			env = append(env, name+"="+l.Device)
		}
	}
	if part, ok := strings.CutPrefix(l.Device, openCL); ok {
		part, _, _ = strings.Cut(part, "@")
		env = append(env, "PAWL_OPENCL_DEVICE="+part)
		if l.Calibrate != 0 {
			env = append(env, "PAWL_OPENCL_CPU=unprotected") // the kernel is the agent's own, also if the device is a CPU
		}
	}
	return env
}

// watch counts rounds while pawl measures. It looks as often as it beats: anything more would disturb the measurement.
func (a *Agent) watch(d *leaseDir, c *roundCounter) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(a.pace.beat)
		defer t.Stop()
		for {
			d.rounds.Store(c.count())
			select {
			case <-end:
				return
			case <-t.C:
			}
		}
	}()
	return sync.OnceFunc(func() { close(end); <-done })
}

// roundCounter counts the rounds in a journal. It reads only what is new.
type roundCounter struct {
	path   string
	file   os.FileInfo
	offset int64
	rounds int64
	tail   []byte // end of what was read, which may be a part of the mark
}

var roundMark = []byte("\n{\"record\":\"round\"") // a journal starts with another record

func (c *roundCounter) count() int64 {
	f, err := os.Open(c.path)
	if err != nil {
		return c.rounds // not started, or finished and turned into the document
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c.rounds
	}
	if c.file == nil || !os.SameFile(c.file, info) || info.Size() < c.offset {
		c.offset, c.rounds, c.tail = 0, 0, nil
	}
	c.file = info
	buffer := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buffer, c.offset)
		c.offset += int64(n)
		text := slices.Concat(c.tail, buffer[:n])
		c.rounds += int64(bytes.Count(text, roundMark))
		c.tail = slices.Clone(text[max(0, len(text)-len(roundMark)+1):])
		if err != nil || n == 0 {
			return c.rounds
		}
	}
}
