package headertest_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	protocol "github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// virtualCards are the cards of the virtual GPU that exist, as gpu/cards.txt names them.
var virtualCards = map[string]string{"L4": "L4", "A100": "A100 SXM 80GB", "H100": "H100 SXM", "B200": "B200", "MI300X": "MI300X"}

func virtualCommand(t *testing.T, env ...string) protocol.Command {
	t.Helper()
	return protocol.Command{Line: build(t, "../../virtualgpu/nvcc", "testdata/virtual.cu", "-O2", "-Wall", "-Wextra"), Dir: t.TempDir(), Env: env}
}

// virtualGPU starts the harness of testdata/virtual.cu on the virtual GPU.
func virtualGPU(t *testing.T, env ...string) *protocol.Session {
	t.Helper()
	s, err := protocol.Start(t.Context(), virtualCommand(t, env...), protocol.Hello{Pawl: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// measured prepares a benchmark and takes samples of it.
func measured(t *testing.T, s *protocol.Session, benchmark string, cache measure.Cache, params map[string]any, samples int) (protocol.Measured, float64) {
	t.Helper()
	p, err := s.Prepare(t.Context(), protocol.Prepare{Benchmark: benchmark, Implementation: "candidate", Params: params, Cache: cache, Timer: measure.TimerDevice, Seed: 5, Bytes: 1 << 18})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Measure(t.Context(), benchmark, protocol.Measure{Samples: samples})
	if err != nil {
		t.Fatal(err)
	}
	return m, p.Quantum / float64(m.Batch)
}

// At 1000 MHz a cycle is a nanosecond, and no card has to lower that clock.
func TestHeader_RecoversAKnownTime(t *testing.T) {
	t.Parallel()
	for card := range virtualCards {
		s := virtualGPU(t, "VGPU_CARD="+card, "VGPU_MHZ=1000")
		for _, ns := range []float64{2e3, 1e4, 1e5, 1e6, 1e7, 1e8} {
			m, step := measured(t, s, "timed", measure.Hot, map[string]any{"cycles": ns}, 9)
			if got := stats.Median(m.Samples); math.Abs(got-ns) > step+0.005*ns {
				t.Errorf("%s: a kernel of %v ns is measured as %v; the step of a sample is %v", card, ns, got, step)
			}
		}
	}
}

func TestHeader_ColdIsTheTimeOfMemory(t *testing.T) {
	t.Parallel()
	for card, name := range virtualCards {
		want := 64 * (1 << 18) / gpu.FindCards(name)[0].BandwidthGBs.Value // a byte of the model stands for 64
		s := virtualGPU(t, "VGPU_CARD="+card, "VGPU_SCALE=64")
		for _, mode := range []string{"plain", "lines", "window"} { // the last two keep lines in the cache
			m, step := measured(t, s, "reads", measure.Cold, map[string]any{"mode": mode}, 9)
			if got := stats.Median(m.Samples); math.Abs(got-want) > step+0.03*want {
				t.Errorf("%s, %s: cold takes %.0f ns, memory %.0f", card, mode, got, want)
			}
		}
	}
}

// Outputs are poisoned before a random half of the samples. No sample may show which.
func TestHeader_HotHasOneMode(t *testing.T) {
	t.Parallel()
	m, step := measured(t, virtualGPU(t, "VGPU_MHZ=1000", "VGPU_SCALE=64"), "streaming", measure.Hot, map[string]any{}, 40)
	if low, high := slices.Min(m.Samples), slices.Max(m.Samples); high-low > 2*step+0.01*low {
		t.Errorf("hot samples are between %.0f and %.0f ns", low, high)
	}
}

// A copy from the host before every sample would leave the device idle, and another clock than a kernel meets in use.
func TestHeader_RestoresAnInoutOnTheDevice(t *testing.T) {
	t.Parallel()
	trace, dir := t.TempDir()+"/trace", t.TempDir()
	s := virtualGPU(t, "VGPU_TRACE="+trace)
	copies := func() int {
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "in copy 1048576\n")
	}
	measured(t, s, "updates", measure.Hot, map[string]any{}, 1)
	before := copies()
	_, err := s.Measure(t.Context(), "updates", protocol.Measure{Samples: 20, Keep: &protocol.Keep{Dir: dir, Count: 1, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if n := copies() - before; n != 0 {
		t.Errorf("%d copies of the argument from the host in 20 samples, want none", n)
	}
	x, y := load(t, dir+"/0-in.safetensors", "x"), load(t, dir+"/0-out.safetensors", "x")
	if y[0] != float64(float32(x[0])+1) || y[1] != x[1] {
		t.Errorf("a run made %v of %v", y[:2], x[:2])
	}
}

// A kernel that reads an illegal address breaks its case. The next case gets a new process.
func TestHeader_LosesTheDeviceForOneCase(t *testing.T) {
	t.Parallel()
	command := virtualCommand(t)
	sessions := trial.Sessions{Command: func(trial.Case) protocol.Command { return command }, Hello: protocol.Hello{Pawl: "test"}}
	var cases []trial.Case
	for _, name := range []string{"crash", "timed"} {
		cases = append(cases, trial.Case{
			Key: measure.CaseKey{Benchmark: name, Implementation: "candidate"}, Implementation: "candidate", Params: map[string]any{"cycles": 1e6},
			Timer: measure.TimerDevice, Samples: 5, Warmup: 1,
		})
	}
	results, err := sessions.Round(t.Context(), trial.Request{Seed: 1, Cases: cases, Measured: func(measure.Result) {}})
	if err != nil || len(results) != 2 {
		t.Fatalf("%v: %d results", err, len(results))
	}
	if why := results[0].Round.Error; !strings.HasPrefix(why, trial.Lost) || !strings.Contains(why, "an illegal memory access was encountered (cudaErrorIllegalAddress)") {
		t.Errorf("the first case has the error %q", why)
	}
	if r := results[1].Round; r.Error != "" || len(r.Samples) != 5 {
		t.Errorf("the second case: %q, %d samples", r.Error, len(r.Samples))
	}
}

func TestHeader_MeasuresAGraph(t *testing.T) {
	t.Parallel()
	m, step := measured(t, virtualGPU(t, "VGPU_MHZ=1000"), "graph", measure.Hot, map[string]any{}, 5)
	if got := stats.Median(m.Samples); math.Abs(got-1e5) > step+500 {
		t.Errorf("ten kernels of 10 us in a graph take %v ns", got)
	}
}

// The queue holds 1,024 launches. A run of more blocks while launches are held back.
func TestHeader_NotesAFullQueue(t *testing.T) {
	t.Parallel()
	m, _ := measured(t, virtualGPU(t, "VGPU_MHZ=1000"), "many", measure.Hot, map[string]any{}, 3)
	if got := stats.Median(m.Samples); !strings.Contains(m.Note, "launches more than the queue holds") || got < 2e6 {
		t.Errorf("2,000 launches of 1 us take %v ns, and the note is %q", got, m.Note)
	}
}

// Clocks sag within a second on an L4 and within milliseconds on a B200, as far as the power cap asks for.
func TestHeader_ClocksFollowThePowerCap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		card        string
		busy        int64   // ns
		first, last float64 // MHz: the highest is at least first, the last at most last
	}{
		{"L4", 3e9, 1900, 1520},
		{"B200", 1e8, 1500, 1600}, // it has sagged before the first sample
	} {
		s := virtualGPU(t, "VGPU_CARD="+tt.card)
		if _, err := s.Prepare(t.Context(), protocol.Prepare{Benchmark: "timed", Implementation: "candidate", Params: map[string]any{"cycles": 1e7}, Cache: measure.Hot, Timer: measure.TimerDevice}); err != nil {
			t.Fatal(err)
		}
		m, err := s.Measure(t.Context(), "timed", protocol.Measure{Busy: tt.busy})
		if err != nil {
			t.Fatal(err)
		}
		if first, last := slices.Max(m.Clocks), m.Clocks[len(m.Clocks)-1]; first < tt.first || last > tt.last {
			t.Errorf("%s: the clock goes from %.0f to %.0f MHz, want %.0f to %.0f", tt.card, first, last, tt.first, tt.last)
		}
	}
}

func TestVirtualGPU_ShowsAMIGSlice(t *testing.T) {
	t.Parallel()
	if name := virtualGPU(t, "VGPU_CARD=A100", "CUDA_VISIBLE_DEVICES=MIG-1").Welcome.Device.Name; name != "Virtual A100 0 MIG 1g" {
		t.Errorf("the device is %q", name)
	}
}

func TestHIPOnTheVirtualGPU(t *testing.T) {
	t.Parallel()
	h := harness(build(t, "../../virtualgpu/hipcc", "testdata/gpu.cu", "-O2", "-Wall", "-Wextra"), "VGPU_CARD=MI300X", "VGPU_MHZ=2000")
	play(t, h, `> {"id":1,"op":"hello","protocol":[1]}`, `< {"id":1,"op":"hello","device":{"name":"Virtual MI300X 0","runtime":"HIP 6.3"}}`,
		`> {"id":2,"op":"prepare","benchmark":"busy","params":{"us":100},"timer":"device"}`, `< {"id":2,"op":"prepare","timer":"device","quantum_ns":10}`,
		`> {"id":3,"op":"measure","samples":5}`, `< {"id":3,"op":"measure","count":5,"samples":"<numbers 5 of 99999..101000>","clock_mhz":"<absent>"}`,
		`> {"id":2,"op":"prepare","benchmark":"selfsync","params":{"us":100},"timer":"device"}`, `< {"id":2,"op":"prepare","timer":"device"}`,
		`> {"id":3,"op":"measure","samples":2}`, `< {"id":3,"op":"measure","count":2,"note":"<string your run function synchronises>"}`)
}

// HIP reports the L2 cache of one die. The Infinity Cache behind it must be swept, too, or a cold read is served by it.
func TestHIP_ColdIsTheTimeOfMemory(t *testing.T) {
	t.Parallel()
	command := protocol.Command{
		Line: build(t, "../../virtualgpu/hipcc", "testdata/virtual.cu", "-O2", "-Wall", "-Wextra"),
		Dir:  t.TempDir(), Env: []string{"VGPU_CARD=MI300X", "VGPU_SCALE=64"},
	}
	s, err := protocol.Start(t.Context(), command, protocol.Hello{Pawl: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	want := 64 * (1 << 18) / gpu.FindCards("MI300X")[0].BandwidthGBs.Value // a byte of the model stands for 64
	params := map[string]any{"mode": "plain"}
	m, step := measured(t, s, "reads", measure.Cold, params, 5)
	if got := stats.Median(m.Samples); math.Abs(got-want) > step+0.03*want {
		t.Errorf("cold takes %.0f ns, memory %.0f", got, want)
	}
	m, step = measured(t, s, "reads", measure.Hot, params, 5)
	if got := stats.Median(m.Samples); got > want/2+step {
		t.Errorf("hot takes %.0f ns, memory %.0f", got, want)
	}
}

// callsOf runs a session of at most two cases and returns how often it called each function, and the errors.
func callsOf(t *testing.T, cases int, fault string) (calls map[string]int, broken [2]error, start error) {
	t.Helper()
	trace := t.TempDir() + "/trace"
	s, start := protocol.Start(t.Context(), virtualCommand(t, "VGPU_SCALE=64", "VGPU_TRACE="+trace, "VGPU_FAULT="+fault), protocol.Hello{Pawl: "test"})
	for i := 0; start == nil && i < cases; i++ {
		_, err := s.Prepare(t.Context(), protocol.Prepare{
			Benchmark: []string{"reads", "timed"}[i], Implementation: "candidate", Params: map[string]any{"mode": "plain", "cycles": 1e6},
			Cache: []measure.Cache{measure.Cold, measure.Hot}[i], Timer: measure.TimerDevice, Seed: 5, Bytes: 1 << 18,
		})
		if err == nil {
			_, err = s.Measure(t.Context(), "it", protocol.Measure{Samples: 2})
		}
		broken[i] = err
	}
	if start == nil {
		if err := s.Bye(t.Context()); cases == 2 && err != nil {
			t.Errorf("%s: bye: %v", fault, err)
		}
		s.Kill()
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	calls = map[string]int{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[0] == "call" {
			calls[f[1]]++
		}
	}
	return calls, broken, start
}

// Each function of the runtime fails at its first, second, middle and last call, one at a time, for lack of memory. The
// case in which it fails is broken and no other. Time is virtual, so calls have the same numbers in every session.
func TestHeader_SurvivesEveryCallThatFails(t *testing.T) {
	t.Parallel()
	hello, _, _ := callsOf(t, 0, "")
	first, _, _ := callsOf(t, 1, "")
	all, broken, start := callsOf(t, 2, "")
	if start != nil || broken != [2]error{} {
		t.Fatalf("without a fault: %v %v", start, broken)
	}
	// Memory that cannot be freed is left, and of sets that cannot be made there are fewer.
	harmless := []string{"cudaFree", "cudaMalloc", "cudaMemcpyAsync"}
	refused := func(err error) bool {
		e, ok := errors.AsType[*protocol.Error](err)
		return ok && e.Kind == protocol.Refused && e.Code == "no_memory"
	}
	faults := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := all[name]
		for _, at := range slices.Compact([]int{1, min(2, n), (n + 1) / 2, n}) {
			faults++
			fault := fmt.Sprintf("%s:%d=2", name, at)
			_, broken, start := callsOf(t, 2, fault)
			switch {
			case at <= hello[name]:
				if !refused(start) {
					t.Errorf("%s: the start says %v, want no_memory", fault, start)
				}
			case start != nil:
				t.Errorf("%s: the start says %v", fault, start)
			default:
				where := 0
				if at > first[name] {
					where = 1
				}
				if broken[1-where] != nil || broken[where] != nil && !refused(broken[where]) || broken[where] == nil && !slices.Contains(harmless, name) {
					t.Errorf("%s: %v, want case %d broken alone", fault, broken, where)
				}
			}
		}
	}
	t.Logf("%d functions, %d faults", len(all), faults)
}
