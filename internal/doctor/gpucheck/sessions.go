package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Kernels of check.cu that a session launches.
const (
	spin    = "check_spin"
	fault   = "check_fault"
	scratch = "check_scratch"
	withMap = "check_map"
)

const blockThreads = 128

// session starts the launcher as a round does.
func (e *exam) session(ctx context.Context) (*harness.Session, error) {
	c := harness.Command{Line: launch.Command(e.launcher), Role: harness.Launcher, Dir: e.dir, Env: e.Env, Silence: time.Minute}
	return harness.Start(ctx, c, harness.Hello{Pawl: e.Version, Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: e.id.UUID}})
}

// kernelArguments returns the arguments of all kernels: n floats to read, as many results as threads, and a number.
func kernelArguments(n int, value float64) []tensor.Argument {
	return []tensor.Argument{
		{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{n}},
		{Name: "out", Role: tensor.Out, DType: tensor.F32, Shape: []int{blockThreads}},
		{Name: "n", Role: tensor.Value, DType: tensor.I32, Value: value},
	}
}

// spinNS is the length of the usual kernel.
const spinNS = 400_000

// prepare makes a kernel ready. Without arguments it runs for spinNS.
func (e *exam) prepare(ctx context.Context, s *harness.Session, kernel string, arguments []tensor.Argument) (harness.Prepared, error) {
	if arguments == nil {
		arguments = kernelArguments(blockThreads, spinNS)
	}
	return e.prepareFile(ctx, s, e.kernels(), kernel, 0, arguments)
}

func (e *exam) prepareFile(ctx context.Context, s *harness.Session, file, kernel string, shared int, arguments []tensor.Argument) (harness.Prepared, error) {
	return s.Prepare(ctx, harness.Prepare{
		Benchmark: kernel, Cache: measure.Hot, Timer: measure.TimerDevice, Seed: 1, Arguments: arguments,
		Launch: &harness.Launch{Kind: launch.CUDA, File: file, Kernel: kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{blockThreads, 1, 1}, Shared: shared},
	})
}

// take measures a kernel in a fresh process.
func (e *exam) take(ctx context.Context, kernel string, arguments []tensor.Argument, samples int) (harness.Measured, harness.Prepared, error) {
	s, err := e.session(ctx)
	if err != nil {
		return harness.Measured{}, harness.Prepared{}, err
	}
	defer s.Kill()
	p, err := e.prepare(ctx, s, kernel, arguments)
	if err != nil {
		return harness.Measured{}, p, err
	}
	m, err := s.Measure(ctx, kernel, harness.Measure{Samples: samples})
	return m, p, err
}

// ownProcesses reads the processes on the card while the launcher runs.
func ownProcesses(ctx context.Context, e *exam) (State, string) {
	before, err := e.Device.State(ctx)
	if err != nil {
		return failed("%v", err)
	}
	s, err := e.session(ctx)
	if err != nil {
		return failed("%v", err)
	}
	defer s.Kill()
	if _, err := e.prepare(ctx, s, spin, nil); err != nil {
		return failed("%v", err)
	}
	during, err := e.Device.State(ctx)
	if err != nil {
		return failed("%v", err)
	}
	foreign := 0
	for _, p := range during.Processes {
		if !slices.ContainsFunc(before.Processes, func(b gpu.Process) bool { return b.PID == p.PID }) {
			foreign++
		}
	}
	return decide(foreign == 0, "%d of pawl's own called foreign; %d other processes on the card", foreign, len(before.Processes))
}

// illegalAddress breaks a process, and measures in the next.
func illegalAddress(ctx context.Context, e *exam) (State, string) {
	_, _, err := e.take(ctx, fault, nil, 3)
	lost, ok := errors.AsType[*harness.Error](err)
	if !ok || lost.Kind != harness.LostDevice {
		return failed("a kernel with an illegal address: %v", err)
	}
	m, _, err := e.take(ctx, spin, nil, 3)
	if err != nil {
		return failed("after an illegal address: %v", err)
	}
	return decide(m.Count == 3, "the device was lost for one case; the next has %d samples", m.Count)
}

// wrongImage is no kernel for any card.
const wrongImage = ".version 6.4\n.target sm_999\n.address_size 64\n.visible .entry check_spin() { ret; }\n"

// refusals asks for what no card can do.
func refusals(ctx context.Context, e *exam) (State, string) {
	image := filepath.Join(e.dir, "wrong.ptx")
	if err := os.WriteFile(image, []byte(wrongImage), 0o600); err != nil {
		return notRun("%v", err)
	}
	floats := min(int(2*e.id.MemoryBytes/4), math.MaxInt32*4)
	asks := []struct {
		what, file, code string
		shared           int
		arguments        []tensor.Argument
	}{
		{"twice the memory", e.kernels(), "no_memory", 0, kernelArguments(floats, spinNS)},
		{"1 GB of shared memory", e.kernels(), "", 1 << 30, kernelArguments(blockThreads, spinNS)},
		{"a wrong image", image, "", 0, kernelArguments(blockThreads, spinNS)},
	}
	var texts []string
	for _, a := range asks {
		s, err := e.session(ctx)
		if err != nil {
			return failed("%v", err)
		}
		_, err = e.prepareFile(ctx, s, a.file, spin, a.shared, a.arguments)
		s.Kill()
		refused, ok := errors.AsType[*harness.Error](err)
		if !ok || refused.Kind != harness.Refused || a.code != "" && refused.Code != a.code {
			return failed("%s: %v", a.what, err)
		}
		texts = append(texts, a.what+": "+refused.Detail)
	}
	return passed("%s", strings.Join(texts, "; "))
}

// unusualKernels tries kernels with other parameters than the suite declares.
func unusualKernels(ctx context.Context, e *exam) (State, string) {
	if _, _, err := e.take(ctx, scratch, kernelArguments(blockThreads, 1), 3); err != nil {
		return failed("a kernel with two hidden pointers: %v", err)
	}
	_, _, err := e.take(ctx, withMap, kernelArguments(blockThreads, 1), 3)
	refused, ok := errors.AsType[*harness.Error](err)
	if !ok || refused.Kind != harness.Refused || !strings.Contains(refused.Detail, "tensor map") {
		return failed("a kernel with a tensor map that the suite does not describe: %v", err)
	}
	const untried = "clusters, cooperative launches and graphs are not tried yet"
	if major, _, _ := strings.Cut(e.id.ComputeCapability, "."); len(major) == 1 && major < "9" {
		return passed("hidden pointers run; %s; %s", refused.Detail, untried)
	}
	mapped := kernelArguments(blockThreads, 1)
	mapped[0].Map = &tensor.Map{Box: []int{blockThreads}}
	if _, _, err := e.take(ctx, withMap, mapped, 3); err != nil {
		return failed("a kernel with a tensor map that the suite describes: %v", err)
	}
	return passed("hidden pointers and a tensor map run; %s", untried)
}

const (
	judgedRounds  = 16
	judgedSamples = 20
)

// judge measures four sides in fresh processes, as a gate does: the same code twice, and slowed by 3 and by 6 %.
func judge(ctx context.Context, e *exam) (State, string) {
	factors := []float64{1, 1, 1.03, 1.06}
	sides := make([][]ratchet.Round, len(factors))
	for round := range judgedRounds {
		for i := range factors {
			side := i
			if round%2 == 1 {
				side = len(factors) - 1 - i
			}
			m, p, err := e.take(ctx, spin, kernelArguments(blockThreads, math.Round(spinNS*factors[side])), judgedSamples)
			if err != nil {
				return failed("%v", err)
			}
			quantum := p.Quantum / float64(max(m.Batch, 1))
			sides[side] = append(sides[side], ratchet.NewRound(measure.CaseRound{Round: round, Samples: m.Samples, Quantum: quantum}, "now"))
		}
	}
	verdict := func(side int) ratchet.Verdict {
		return ratchet.Judge(ratchet.Default(), []ratchet.Evidence{{
			Case: measure.CaseKey{Benchmark: spin, Config: fmt.Sprintf("%g", factors[side])}, Unit: "ns", Better: measure.Lower, Timer: measure.TimerDevice, Gate: true,
			Base: sides[0], Candidate: sides[side], Paired: true, HasBase: true, HasCandidate: true,
		}}).Cases[0].Verdict
	}
	same, three, six := verdict(1), verdict(2), verdict(3)
	ok := same != ratchet.Regression && same != ratchet.Improvement && three != ratchet.Improvement && six == ratchet.Regression
	return decide(ok, "same code: %s, 3 %% slower: %s, 6 %% slower: %s", same, three, six)
}
