package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/sdk"
	"github.com/goatnote-inc/pawl/stats"
)

// calibrationSamples is the number of samples of pawl's own kernel at the start and the end of a run.
const (
	calibrationSamples = 50
	calibrationWarm    = 500 * time.Millisecond
)

// driftLimit is how much pawl's own kernel may change during a run before a warning. Its code never
// changes, so a difference comes from the machine.
const driftLimit = 0.03

// greetHarness starts the candidate's harness once, to learn its timers and, if the
// suite does not list them, its cases.
func (r *Setup) greetHarness(ctx context.Context) (harness.Welcome, error) {
	if r.plain() {
		return harness.Welcome{}, r.detect(ctx)
	}
	session, err := r.open(ctx)
	if err != nil {
		return harness.Welcome{}, &trial.SideError{Side: suite.Candidate, Err: err}
	}
	defer session.Kill()
	if r.Suite.NeedsHarness() {
		listed, err := session.Cases(ctx)
		if err != nil {
			return harness.Welcome{}, &trial.SideError{Side: suite.Candidate, Err: err}
		}
		if r.Suite, err = r.Suite.Fill(listed); err != nil {
			return harness.Welcome{}, err
		}
		for i := range r.sides {
			if s := &r.sides[i]; s.suite != nil {
				if s.suite, err = s.suite.Fill(listed); err != nil {
					return harness.Welcome{}, &trial.SideError{Side: s.name, Err: err}
				}
			}
		}
	}
	if now, command := sdk.Outdated(session.Welcome.SDK); now != "" {
		r.Notice(device.Notice{Code: "sdk", Message: fmt.Sprintf("the harness uses %s, but this pawl comes with %s", session.Welcome.SDK, now), Fix: command + " writes the current version"})
	}
	return session.Welcome, session.Bye(ctx)
}

// open starts the candidate's first harness.
func (r *Setup) open(ctx context.Context) (*harness.Session, error) {
	s := r.sides[0]
	h := r.variants(s)[0].Harness
	for _, l := range r.launchers {
		h.Command, h.Env = l.command, nil
	}
	return harness.Start(ctx, r.start(s, h, nil), r.hello())
}

func (r *Setup) deviceEnv() []string { return DeviceEnv(r.Device()) }

// DeviceEnv returns variables that make a harness use this device, whatever its framework. It leaves
// CUDA_MODULE_LOADING alone: loading every kernel of a framework costs hundreds of megabytes and seconds at
// each start, and warm-up loads the ones that are measured. pawl.h and the launcher load their few eagerly.
func DeviceEnv(id gpu.Identity) []string {
	if id.UUID == "" {
		return nil
	}
	if id.Kind != gpu.AMD {
		return []string{"CUDA_VISIBLE_DEVICES=" + id.UUID}
	}
	// HIP numbers what ROCm leaves; a number that a user or a scheduler set would then be another card's.
	if strings.HasPrefix(id.UUID, "GPU-") {
		return []string{"ROCR_VISIBLE_DEVICES=" + id.UUID, "HIP_VISIBLE_DEVICES=0"}
	}
	return []string{"ROCR_VISIBLE_DEVICES=" + strconv.Itoa(id.Index), "HIP_VISIBLE_DEVICES=0"}
}

// calibrate measures pawl's own kernel, which never changes.
func (r *Setup) calibrate(ctx context.Context, when string) error {
	if r.plain() || r.Brief {
		return nil
	}
	if when == "open" && r.past != nil {
		r.openedBefore()
		return nil
	}
	c, err := r.calibration(ctx, when)
	if err != nil || c == nil {
		return err
	}
	if err := r.journal.AddCalibration(*c); err != nil {
		return err
	}
	median := stats.Median(c.Samples)
	r.Emit(Calibrated{When: when, Median: median})
	if when == "open" {
		r.opened = median
		return nil
	}
	if drift := median/r.opened - 1; r.opened > 0 && (drift > driftLimit || drift < -driftLimit) {
		r.warn("drift", "pawl's own kernel ran %s at the end of the run than at the start: the machine changed during the measurement", words.Change(1+drift))
	}
	return nil
}

func (r *Setup) calibration(ctx context.Context, when string) (*measure.Calibration, error) {
	session, err := r.open(ctx)
	if err != nil {
		return nil, &trial.SideError{Side: suite.Candidate, Err: err}
	}
	defer session.Kill()
	if !session.Welcome.Calibration {
		return nil, session.Bye(ctx)
	}
	timer := r.calibrationTimer(session.Welcome.Timers)
	_, err = session.Prepare(ctx, harness.Prepare{
		Benchmark: harness.CalibrationBenchmark, Implementation: suite.Candidate, Params: map[string]any{},
		Cache: measure.Hot, Timer: timer, Seed: 1,
	})
	if e, ok := errors.AsType[*harness.Error](err); ok && !e.Broken() {
		return nil, session.Bye(ctx) // a harness may lack the kernel; the run does not depend on it
	}
	if err != nil {
		return nil, &trial.SideError{Side: suite.Candidate, Err: err}
	}
	// The first calibration starts on an idle device. It needs a real warm-up to be comparable with the last.
	warm := harness.Measure{Samples: calibrationSamples, Busy: calibrationWarm.Nanoseconds(), Warmup: true}
	if _, err = session.Measure(ctx, "warm-up of "+harness.CalibrationBenchmark, warm); err != nil {
		return nil, &trial.SideError{Side: suite.Candidate, Err: err}
	}
	m, err := session.Measure(ctx, harness.CalibrationBenchmark, harness.Measure{Samples: calibrationSamples})
	if err != nil {
		return nil, &trial.SideError{Side: suite.Candidate, Err: err}
	}
	return &measure.Calibration{When: when, Kernel: session.Welcome.SDK, Timer: timer, Samples: m.Samples}, session.Bye(ctx)
}

// calibrationTimer returns a timer that the candidate's cases use, so that the drift
// is measured on the clock that counts.
func (r *Setup) calibrationTimer(known []measure.Timer) measure.Timer {
	for _, c := range r.cases[suite.Candidate] {
		if slices.Contains(known, c.Timer) {
			return c.Timer
		}
	}
	return known[0]
}

// usageMetrics returns the metrics of a suite that pawl reads from the driver.
func usageMetrics(s *suite.Suite) []string {
	var names []string
	for _, m := range s.Metrics {
		if m.Reported() && slices.Contains(trial.UsageMetrics, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// meter returns how to read what a case uses of the device, and which metrics of it the suite lists: none for a host.
func (r *Setup) meter() (trial.Meter, []string) {
	names := usageMetrics(r.Suite)
	if len(names) == 0 || r.Device().Kind == gpu.CPU {
		return nil, nil
	}
	dev := r.lease.Device()
	return func(ctx context.Context, pid int, f func() error) (gpu.Usage, error) {
		return device.Meter(ctx, dev, pid, f)
	}, names
}

// runner returns the runner that measures the cases of a side.
func (r *Setup) runner(s side) (trial.Runner, error) {
	log := r.logs[s.name]
	variants := r.variants(s)
	if r.plain() {
		return r.commands(s, log), nil
	}
	byCase := map[string]suite.Harness{}
	for _, v := range variants {
		for _, c := range v.Cases {
			byCase[c.Name()] = v.Harness
		}
	}
	doubt, err := r.verification(s)
	if err != nil {
		return nil, err
	}
	meter, metrics := r.meter()
	return trial.Sessions{
		Meter: meter, Metrics: metrics,
		Hello: r.hello(),
		Command: func(c trial.Case) harness.Command {
			return r.start(s, r.harnessFor(byCase[c.Key.Name()], c), log)
		},
		Doubt: doubt, Work: r.work(s),
	}, nil
}

// SlowedSide is the name of the side that does more work per sample than is counted.
const SlowedSide = "slowed"

// hasSlowedSide reports whether the run has a slowed side. It cannot for a plain command or a kernel that
// pawl times from outside: they choose the number of runs per sample themselves.
func (o Options) hasSlowedSide() bool {
	return o.Planted && !o.plain() && o.trust() != measure.SelfTimed
}

// work returns how much work a side does per sample, relative to what is counted.
func (o Options) work(s side) trial.Work {
	switch {
	case !o.hasSlowedSide():
		return 0
	case s.name == SlowedSide:
		return trial.MoreWork
	default:
		return trial.AllWork
	}
}
