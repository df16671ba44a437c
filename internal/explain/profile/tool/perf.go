package tool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// PerfOptions select what perf counts.
type PerfOptions struct {
	Events []string // empty for PerfEvents
}

// PerfEvents returns the events that rules and differences use. They fit the counters of common
// processors, so that none is scaled. task-clock is not a counter and always works.
func PerfEvents() []string {
	return []string{
		"task-clock", "instructions", "cycles", "branches", "branch-misses",
		"L1-dcache-loads", "L1-dcache-load-misses", "LLC-load-misses",
	}
}

const (
	// perfSpan is about how long the counted runs take: long compared with
	// switching the counters, short for the user.
	perfSpan     = 100 * time.Millisecond
	perfMostRuns = 1 << 20
)

// PerfReady returns why perf cannot count instructions on this machine; nil if it can.
func PerfReady(ctx context.Context) error {
	path, err := exec.LookPath("perf")
	if err != nil {
		return errors.New("perf is not installed: install it, for example with apt-get install linux-perf")
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "stat", "-x,", "-e", "instructions:u", "--", "true")
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput() // perf prints its counters on stderr
	text := string(out)
	switch {
	case strings.Contains(text, "<not supported>"):
		return errors.New("this machine has no hardware counters (perf says: not supported), as is usual for virtual machines")
	case err != nil && strings.Contains(text, "perf_event_paranoid"):
		return errors.New("this user may not read counters: run sudo sysctl kernel.perf_event_paranoid=2 (in a container: start it with --cap-add=PERFMON)")
	case err != nil:
		return fmt.Errorf("cannot run perf: %w: %.200s", err, strings.Join(strings.Fields(text), " "))
	}
	if _, err := profile.ReadPerf(strings.NewReader(text)); err != nil {
		return err
	}
	return nil
}

// Perf counts what the processor does in one run of a host kernel. It counts a number of runs and
// then twice as many, and takes the difference. Work around the runs (laying out arguments,
// sweeping the cache, talking to the harness) is in both and cancels out.
func Perf(ctx context.Context, o PerfOptions, t Target) (Result, error) {
	const name = "perf"
	if len(o.Events) == 0 {
		if err := PerfReady(ctx); err != nil {
			return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error(), Fix: "use callgrind, which counts instructions without hardware counters"}
		}
		o.Events = PerfEvents()
	}
	run := perfRun{target: t, events: o.Events}
	first, err := run.count(ctx, 1)
	if err != nil || t.Plain {
		return first, err
	}
	second, err := run.count(ctx, 2)
	if err != nil {
		return Result{}, err
	}
	counts := perRun(first.Profile, second.Profile, float64(run.iterations))
	counts.Tool.Version = perfVersion(ctx)
	counts.Tool.Settings = []profile.Setting{{Name: "cache", Value: string(t.Cache)}}
	counts.Launches[0].Kernel = t.Prepare.Benchmark
	return Result{Profile: counts, Files: second.Files, Notes: counts.Notes}, nil
}

// perfRun is the state of counting one target.
type perfRun struct {
	target     Target
	events     []string
	iterations int // iterations of the first count; 0 until the warm-up has timed one
}

// count runs the target under perf, with times the iterations of the first count.
func (r *perfRun) count(ctx context.Context, times int) (Result, error) {
	const name = "perf"
	t, stem := r.target, filepath.Join(r.target.Dir, r.target.Stem)
	out := fmt.Sprintf("%s.perf.%d.csv", stem, times)
	if err := removeStale(out); err != nil {
		return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error()}
	}
	wrap := []string{"perf", "stat", "-x,", "-o", out, "-e", strings.Join(r.events, ",")}
	how := driveOptions{tool: name, slower: 2, exact: true, env: []string{"LC_ALL=C"}}
	if !t.Plain {
		s, err := newSwitch(stem)
		if err != nil {
			return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error(), Err: err}
		}
		defer s.close()
		wrap = append(wrap, "-D", "-1", "--control", s.option())
		how.runs = func(ctx context.Context, session *harness.Session) error { return r.runs(ctx, session, s, times) }
	}
	if err := drive(ctx, t, append(wrap, "--"), how); err != nil {
		return Result{}, err
	}
	p, err := readFile(out, profile.ReadPerf)
	if err != nil {
		return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error(), Err: err}
	}
	return Result{Profile: p, Files: []string{out}}, nil
}

// runs warms up, then enables the counters around the runs that count.
func (r *perfRun) runs(ctx context.Context, session *harness.Session, s *counterSwitch, times int) error {
	one := time.Duration(math.MaxInt64) // fastest run: the others waited on a busy machine
	for range max(1, r.target.Warmup) {
		began := time.Now()
		if _, err := session.Profile(ctx, harness.Profile{Iterations: 1}); err != nil {
			return err
		}
		one = min(one, time.Since(began))
	}
	if r.iterations == 0 {
		r.iterations = int(min(max(perfSpan/max(one, 100*time.Nanosecond), 2), perfMostRuns))
	}
	if err := s.send("enable"); err != nil {
		return err
	}
	if _, err := session.Profile(ctx, harness.Profile{Iterations: times * r.iterations}); err != nil {
		return err
	}
	return s.send("disable")
}

// perRun returns the counts of one run: the difference of two counts, divided by the number of
// extra runs in the second. Negative differences, which are noise, become zero.
func perRun(first, second *profile.Profile, runs float64) *profile.Profile {
	before := map[string]float64{}
	for _, m := range first.Launches[0].Metrics {
		if m.Value != nil {
			before[m.Name] = *m.Value
		}
	}
	result := *second
	l := second.Launches[0]
	l.Metrics = nil
	for _, m := range second.Launches[0].Metrics {
		if m.Value != nil {
			v := math.Max(0, *m.Value-before[m.Name]) / runs
			m.Value = &v
		}
		l.Metrics = append(l.Metrics, m)
		if m.Name == "task-clock" && m.Value != nil {
			ns := *m.Value * 1e6 // perf reports milliseconds
			l.Metrics = append(l.Metrics, profile.Metric{Name: "time_ns", Unit: "ns", Value: &ns})
		}
	}
	result.Launches = []profile.Launch{l}
	return &result
}

// perfVersion returns perf's version; empty if unknown.
func perfVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "perf", "--version").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(out)), "perf version"))
}
