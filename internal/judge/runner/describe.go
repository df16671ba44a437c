package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/noise"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// describe fills the header with everything that is known before the first sample.
func (r *Setup) describe(ctx context.Context, w harness.Welcome) (gpu.State, error) {
	dev := r.lease.Device()
	state, err := dev.State(ctx)
	if err != nil {
		return state, fmt.Errorf("read %s: %w", dev.Identity().Name, err)
	}
	now := r.Now()
	testbed := measure.NewTestbed(dev.Identity(), state, r.lease.Clocks())
	r.header = measure.Header{
		ID: cmp.Or(r.ID, NewID(now)), Created: now.UTC(), Pawl: r.Version, Source: measure.Measured,
		Trust: r.trust(), Definition: r.definition, Accepted: r.Accepted,
		Suite:       measure.SuiteRef{Name: r.Suite.Name, Path: r.Path, Digest: r.Suite.Digest},
		Device:      dev.Identity(),
		Testbed:     testbed,
		Environment: environment(r.Now),
		Plan: measure.Plan{
			Seed: r.Seed, Edition: ratchet.Default().Edition, Dependence: noise.Known(testbed), Growth: r.growth(), Turns: r.planTurns(state), Samples: r.Suite.Measure.Samples, Warmup: r.Suite.Measure.Warmup,
			Case: r.Case, Override: r.Samples,
			Seconds: r.budget().Seconds(), Dollars: r.Suite.Budget.Dollars, PricePerHour: r.Suite.Device.PricePerHour,
		},
	}
	met := r.sides[0]
	for _, s := range r.sides {
		if s.dir == met.dir && s.impl.Harness.Command == met.impl.Harness.Command { // the harness that meet started
			s.impl.Harness.SDK, s.impl.Harness.Device, s.impl.Harness.Runtime = w.SDK, w.Device.Name, w.Device.Runtime
		}
		r.header.Implementations = append(r.header.Implementations, s.impl)
	}
	r.warnOtherProcesses(state)
	return state, nil
}

// warnOtherProcesses adds warnings about other work on the device.
func (r *Setup) warnOtherProcesses(s gpu.State) {
	if n := len(s.Processes); n > 0 {
		r.warn("foreign_process", "other processes on the device: %d, the first is %s (pid %d); stop them, or expect noise", n, s.Processes[0].Name, s.Processes[0].PID)
	}
	if cores := float64(runtime.NumCPU()); r.header.Device.Kind == gpu.CPU && s.Load1 > cores/2 {
		r.warn("load", "the machine is busy (load %.1f on %.0f cores): %s", s.Load1, cores, r.whenBusy())
	}
}

// whenBusy returns advice for a busy machine; it depends on the timer in use.
func (r *Setup) whenBusy() string {
	for _, c := range r.cases[suite.Candidate] {
		if c.Timer != measure.TimerCPU {
			return "gate on CPU time (measure.timer: cpu) if the kernel runs in one thread, or measure on another machine"
		}
	}
	if r.plain() {
		return "stop other programs, or measure on another machine"
	}
	return "CPU time excludes waiting, but other processes still share caches and clocks"
}

// choose selects the cases and the timer of each side.
func (r *Setup) choose(w harness.Welcome) error {
	r.cases, r.metrics = map[string][]trial.Case{}, map[measure.CaseKey]suite.Case{}
	sides := r.sides
	if r.plain() { // it reports its cases when it has run
		sides = nil
	}
	for _, s := range sides {
		for _, c := range r.Suite.Cases() {
			if c.Implementation == s.from && r.wants(c.Name(), c.Benchmark) && r.measures(s, c) {
				if err := r.add(s, c, w.Timers); err != nil {
					return err
				}
			}
		}
	}
	if len(r.declared) == 0 && !r.plain() {
		return r.noCase()
	}
	r.declareSkipped(w.Timers)
	for _, c := range r.missing { // no samples: the judge sees that only the base has the case
		if r.wants(c.Name(), c.Benchmark) {
			key := c.CaseKey
			if key.Implementation = suite.Base; key.Cache == measure.Hot {
				key.Cache = ""
			}
			r.declared = append(r.declared, measure.Case{CaseKey: key, Params: c.Params.Map(), Unit: "ns", Better: measure.Lower, Gate: c.Gate, Timer: c.Timer})
		}
	}
	return nil
}

// measures reports whether a side takes part in a case. The constraints of a point may exclude a
// config. Beside points, references only provide correct results and are not measured.
func (r *Setup) measures(s side, c suite.Case) bool {
	if len(r.Points) == 0 {
		return true
	}
	return s.from == suite.Candidate && slices.ContainsFunc(r.suiteOf(s).Cases(), func(x suite.Case) bool { return x.CaseKey == c.CaseKey })
}

func (r *Setup) add(s side, c suite.Case, timers []measure.Timer) error {
	key := c.CaseKey
	key.Implementation = s.name
	if key.Cache == measure.Hot {
		key.Cache = "" // one spelling, so that keys compare equal
	}
	if c.Timer == "" && len(timers) > 0 {
		c.Timer = timers[0]
	}
	if r.Samples > 0 {
		c.Samples = r.Samples
	}
	if r.trust() == measure.SelfTimed {
		c.Samples = trial.ScoreSamples
	}
	measured := trial.Case{
		Key: key, Params: r.suiteOf(s).Benchmark(c.Benchmark).Complete(c.Params).Map(), Implementation: c.Implementation,
		Timer: c.Timer, Samples: c.Samples, Warmup: c.Warmup, Bytes: c.Bytes,
	}
	var err error
	if r.checked() {
		own := r.Options
		own.Suite = r.suiteOf(s)
		measured.Launch, measured.Arguments, err = own.launchOf(s.dir, c)
	} else {
		measured.Arguments, err = r.suiteOf(s).Benchmark(c.Benchmark).Arguments(c.Params)
	}
	if err != nil {
		return err
	}
	r.cases[s.name] = append(r.cases[s.name], measured)
	if r.trust() == measure.SelfTimed {
		c.Timer = measure.TimerExternal
	}
	declared := measure.Case{
		CaseKey: key, Params: measured.Params, Unit: "ns", Better: measure.Lower,
		Gate: c.Gate, Timer: c.Timer, Flops: c.Flops, Bytes: c.Bytes, Unchanged: r.leftOut.sampled[c.Name()],
	}
	r.declared = append(r.declared, declared)
	r.declareMetrics(c, declared)
	return nil
}

// environment describes the machine, beyond the testbed.
func environment(now func() time.Time) measure.Environment {
	id := host.Open(os.DirFS("/"), now).Identity()
	env := measure.Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: id.Name, Cores: id.Units, Memory: id.MemoryBytes,
		Vars: map[string]string{},
	}
	env.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		env.OS += " " + unix.ByteSliceToString(u.Release[:])
	}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); affectsKernels(name) {
			env.Vars[name] = value
		}
	}
	return env
}

// affectsKernels reports whether an environment variable can change how a kernel runs. No others are
// recorded, because environments contain secrets.
func affectsKernels(name string) bool {
	for _, secret := range []string{"TOKEN", "SECRET", "KEY", "PASS", "CRED"} {
		if strings.Contains(name, secret) {
			return false
		}
	}
	for _, prefix := range []string{"CUDA_", "NVIDIA_", "HIP_", "ROCR_", "OMP_", "MKL_", "OPENBLAS_", "POCL_", "PAWL_OPENCL_", "TORCH_", "PYTORCH_", "TRITON_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// identify adds facts from the machine code of both sides: which functions differ, and which resources
// kernels need. They only explain, so missing tools are no error: the report then says less.
func (r *Setup) identify(ctx context.Context) {
	for i := range r.sides {
		s := &r.sides[i]
		if s.name != suite.Candidate && s.name != suite.Base {
			continue
		}
		log, _ := os.ReadFile(filepath.Join(filepath.Dir(r.Out), "logs", s.name+".build.log"))
		_ = codeid.Describe(ctx, s.dir, &s.impl.Build, string(log))
	}
}
