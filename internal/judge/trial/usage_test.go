//go:build linux && (amd64 || arm64)

package trial_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// metered is a virtual GPU, its launcher, and a kernel for it.
type metered struct {
	dev      device.Device
	sessions trial.Sessions
	image    string
}

func newMetered(t *testing.T, settings ...string) metered {
	t.Helper()
	v := devicetest.UseVirtual(t, append([]string{"VGPU_MHZ=1500", "VGPU_SCALE=64"}, settings...)...)
	inv, err := device.List(t.Context(), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := inv.Select(gpu.NVIDIA, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "energy.so")
	args := []string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I../../../sdk/virtualgpu", "-o", library, "testdata/energy.c"}
	if out, err := exec.CommandContext(t.Context(), "cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := metered{dev: dev, image: filepath.Join(dir, "kernels.cubin")}
	if err := os.WriteFile(m.image, []byte("virtual module: "+library), 0o600); err != nil {
		t.Fatal(err)
	}
	launcher, err := launch.Build(t.Context(), launch.CUDA, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	m.sessions = trial.Sessions{
		Hello: harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: dev.Identity().UUID}},
		Command: func(trial.Case) harness.Command {
			return harness.Command{Line: launch.Command(launcher), Dir: dir, Env: v.Env(), Silence: time.Minute}
		},
		Meter: func(ctx context.Context, pid int, f func() error) (gpu.Usage, error) {
			return device.Meter(ctx, dev, pid, f)
		},
		Metrics: trial.UsageMetrics,
	}
	return m
}

// round measures the kernel in a fresh process. share is what it draws, in thousandths.
func (m metered) round(t *testing.T, round int, share float64) measure.Result {
	t.Helper()
	c := trial.Case{
		Key: measure.CaseKey{Benchmark: "draws", Implementation: "candidate", Cache: measure.Hot}, Timer: measure.TimerDevice, Samples: 10, Warmup: 1,
		Arguments: []tensor.Argument{
			{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{128}},
			{Name: "out", Role: tensor.Out, DType: tensor.F32, Shape: []int{128}},
			{Name: "n", Role: tensor.Value, DType: tensor.I32, Value: share},
		},
		Launch: &harness.Launch{Kind: launch.CUDA, File: m.image, Kernel: "draws", Grid: [3]int{1, 1, 1}, Block: [3]int{128, 1, 1}},
	}
	results, err := m.sessions.Round(t.Context(), trial.Request{Round: round, Seed: uint64(round), Cases: []trial.Case{c}, Measured: func(measure.Result) {}})
	if err != nil || len(results) != 1 || results[0].Round.Error != "" {
		t.Fatalf("round %d: %v %+v", round, err, results)
	}
	return results[0]
}

func valueOf(t *testing.T, r measure.Result, name string) float64 {
	t.Helper()
	for _, v := range r.Values {
		if v.Metric == name {
			return v.Samples[0]
		}
	}
	t.Fatalf("no %s in %+v", name, r.Values)
	return 0
}

// verdictOf judges rounds of one value each.
func verdictOf(name, unit string, base, candidate []float64) ratchet.Judgment {
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: "draws", Metric: name}, Unit: unit, Better: measure.Lower, Timer: measure.TimerDevice, Gate: true,
		Paired: true, HasBase: true, HasCandidate: true,
	}
	for i := range base {
		e.Base = append(e.Base, ratchet.NewRound(measure.CaseRound{Round: i, Samples: measure.Samples{base[i]}}, "now"))
		e.Candidate = append(e.Candidate, ratchet.NewRound(measure.CaseRound{Round: i, Samples: measure.Samples{candidate[i]}}, "now"))
	}
	return ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0]
}

// A kernel that takes the same time and 10 % more energy is found by its energy alone.
func TestUsage_GateFindsMoreEnergyAtTheSameTime(t *testing.T) {
	m := newMetered(t)
	var joules, times [2][]float64
	for round := range 16 {
		for i := range 2 {
			side := (i + round) % 2
			share := []float64{500, 600}[side] // of the units, in thousandths
			r := m.round(t, round, share)
			joules[side] = append(joules[side], valueOf(t, r, trial.MetricEnergy))
			times[side] = append(times[side], stats.Median(r.Round.Samples))
		}
	}
	more := stats.Median(joules[1]) / stats.Median(joules[0])
	if more < 1.09 || more > 1.12 {
		t.Errorf("energy of a run: %.5g and %.5g J, %.3f times as much, want about 1.10", stats.Median(joules[0]), stats.Median(joules[1]), more)
	}
	if j := verdictOf(trial.MetricEnergy, "J", joules[0], joules[1]); j.Verdict != ratchet.Regression {
		t.Errorf("energy: %s: %s", j.Verdict, j.Sentence)
	}
	if j := verdictOf("", "ns", times[0], times[1]); j.Verdict != ratchet.Maintained {
		t.Errorf("time: %s: %s", j.Verdict, j.Sentence)
	}
	t.Logf("energy of a run: %.5g and %.5g J", stats.Median(joules[0]), stats.Median(joules[1]))
}

func TestUsage_ReadsMemoryAndClock(t *testing.T) {
	m := newMetered(t)
	r := m.round(t, 0, 500)
	if mhz := valueOf(t, r, trial.MetricClock); mhz != 1500 {
		t.Errorf("clock %v MHz, want 1500", mhz)
	}
	if bytes := valueOf(t, r, trial.MetricMemory); bytes < 1024 || bytes > 1e9 {
		t.Errorf("memory %v bytes", bytes)
	}
}

// A suite that lists no such metric costs nothing.
func TestUsage_IsNotReadUnlessListed(t *testing.T) {
	m := newMetered(t)
	m.sessions.Meter = nil
	if r := m.round(t, 0, 500); len(r.Values) != 0 {
		t.Errorf("values %+v", r.Values)
	}
}
