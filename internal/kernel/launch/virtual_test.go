package launch_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// virtualCards are the cards of the virtual GPU that exist, as gpu/cards.txt names them.
var virtualCards = map[string]string{"L4": "L4", "A100": "A100 SXM 80GB", "H100": "H100 SXM", "B200": "B200", "MI300X": "MI300X"}

func TestVirtualGPU_HasTheFiguresOfTheCards(t *testing.T) {
	text, err := os.ReadFile(virtualModel + "/model.c")
	if err != nil {
		t.Fatal(err)
	}
	for name, full := range virtualCards {
		row := regexp.MustCompile(`\{"` + name + `", ([0-9., ]+)\}`).FindSubmatch(text)
		if row == nil {
			t.Errorf("the model has no %s", name)
			continue
		}
		got := strings.Split(string(row[1]), ", ")[:5]
		c := gpu.FindCards(full)[0]
		cache := c.L2MB.Value
		if c.L3MB.Known() {
			cache = c.L3MB.Value
		}
		want := strings.Fields(fmt.Sprint(c.SMs.Value, cache, c.MemoryGB.Value, c.BandwidthGBs.Value, c.BoostMHz.Value))
		if !slices.Equal(got, want) {
			t.Errorf("%s: units, cache, memory, bandwidth and clock are %v, want %v", name, got, want)
		}
	}
}

// median prepares and measures a kernel, and returns the median of its samples and what was measured.
func (v virtual) median(t *testing.T, kernel string, cache measure.Cache, arguments []tensor.Argument) (ns, step float64) {
	t.Helper()
	p, err := v.prepare(t, kernel, 128, 0, cache, arguments)
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.Measure(t.Context(), kernel, harness.Measure{Samples: 9})
	if err != nil {
		t.Fatal(err)
	}
	return stats.Median(m.Samples), p.Quantum / float64(m.Batch)
}

// timedArguments are the arguments of a kernel that takes so many cycles.
func timedArguments(cycles float64) []tensor.Argument {
	return []tensor.Argument{in("x", tensor.F32, 128), out("out", tensor.F32, 128), value("n", tensor.I32, cycles)}
}

// At 1000 MHz a cycle is a nanosecond, and no card has to lower that clock.
func TestLauncher_RecoversAKnownTime(t *testing.T) {
	for card := range virtualCards {
		v := virtualGPU(t, "VGPU_CARD="+card, "VGPU_MHZ=1000")
		for _, ns := range []float64{2e3, 1e4, 1e5, 1e6, 1e7, 1e8} {
			if got, step := v.median(t, "timed", measure.Hot, timedArguments(ns)); math.Abs(got-ns) > step+0.005*ns {
				t.Errorf("%s: a kernel of %v ns is measured as %v; the step of a sample is %v", card, ns, got, step)
			}
		}
	}
}

// readArguments are the arguments of a kernel that reads 256 KiB: n elements, of which 128 are written.
func readArguments() []tensor.Argument {
	const n = 1 << 16
	return []tensor.Argument{in("x", tensor.F32, n), out("out", tensor.F32, 128), value("n", tensor.I32, n)}
}

// memoryTime returns how long the card needs to read 256 KiB of the model, of which each byte stands for 64.
func memoryTime(card string) float64 {
	return 64 * (1 << 18) / gpu.FindCards(virtualCards[card])[0].BandwidthGBs.Value
}

func TestLauncher_ColdIsTheTimeOfMemory(t *testing.T) {
	for card := range virtualCards {
		v := virtualGPU(t, "VGPU_CARD="+card, "VGPU_SCALE=64")
		want := memoryTime(card)
		if got, step := v.median(t, "reads", measure.Cold, readArguments()); math.Abs(got-want) > step+0.03*want {
			t.Errorf("%s: cold takes %.0f ns, memory %.0f", card, got, want)
		}
	}
}

// A kernel can ask the cache to keep what it reads, without any code on the host. It is cold all the same.
func TestLauncher_ColdAfterAPersistingLinesAttack(t *testing.T) {
	for card := range virtualCards {
		v := virtualGPU(t, "VGPU_CARD="+card, "VGPU_SCALE=64")
		want := memoryTime(card)
		if got, step := v.median(t, "persists", measure.Cold, readArguments()); math.Abs(got-want) > step+0.03*want {
			t.Errorf("%s: cold takes %.0f ns with lines that persist, memory %.0f", card, got, want)
		}
	}
}

// outcome of a session of two cases, one after the other: the error of the start, or of each case.
type outcome struct {
	start error
	cases [2]error
}

func twoCases(t *testing.T, trace, fault string) (o outcome) {
	t.Helper()
	c, image := virtualCommand(t, "VGPU_SCALE=64", "VGPU_TRACE="+trace, "VGPU_FAULT="+fault)
	s, err := harness.Start(t.Context(), c, virtualHello)
	if err != nil {
		return outcome{start: err}
	}
	defer s.Kill()
	v := virtual{s, image, trace}
	for i := range o.cases {
		_, err := v.prepare(t, "timed", 128, 0, []measure.Cache{measure.Hot, measure.Cold}[i], timedArguments(1e6))
		if err == nil {
			_, err = s.Measure(t.Context(), "it", harness.Measure{Samples: 3})
		}
		o.cases[i] = err
	}
	if err := s.Bye(t.Context()); err != nil {
		t.Errorf("%s: bye: %v", fault, err)
	}
	return o
}

// Each function of the driver fails at its first, second, middle and last call, one at a time, for lack of memory. The
// case in which it fails is broken and no other. A failure that the launcher can do without breaks none.
func TestLauncher_SurvivesEveryCallThatFails(t *testing.T) {
	dir := t.TempDir()
	if o := twoCases(t, dir+"/clean", ""); o != (outcome{}) {
		t.Fatalf("without a fault: %+v", o)
	}
	calls := map[string]int{}
	for _, line := range (virtual{trace: dir + "/clean"}).traced(t) {
		if f := strings.Fields(line); f[0] == "call" {
			calls[f[1]]++
		}
	}
	faults := 0
	for name, n := range calls {
		for _, at := range slices.Compact([]int{1, min(2, n), (n + 1) / 2, n}) {
			faults++
			fault := fmt.Sprintf("%s:%d=2", name, at)
			trace := dir + "/" + fault
			o := twoCases(t, trace, fault)
			checkOutcome(t, fault, name, o, whereFailed(t, virtual{trace: trace}, name, at))
		}
	}
	t.Logf("%d functions, %d faults", len(calls), faults)
}

// whereFailed returns the case in which call number at of a function failed: -1 before the first, 2 if there was none.
func whereFailed(t *testing.T, v virtual, name string, at int) int {
	t.Helper()
	where, seen := -1, 0
	for _, line := range v.traced(t) {
		f := strings.Fields(line)
		if f[0] == "call" && f[1] == "cuCtxCreate_v2" {
			where++
		}
		if f[0] == "call" && f[1] == name {
			if seen++; seen == at {
				return min(where, 1)
			}
		}
	}
	return 2
}

// harmless are functions whose failure breaks nothing.
var harmless = []string{"cuCtxDestroy_v2"}

func checkOutcome(t *testing.T, fault, name string, o outcome, where int) {
	t.Helper()
	refused := func(err error) bool {
		e, ok := errors.AsType[*harness.Error](err)
		return ok && e.Kind == harness.Refused && e.Code == "no_memory"
	}
	switch {
	case where == 2 || slices.Contains(harmless, name):
		if o != (outcome{}) {
			t.Errorf("%s: %+v, want no failure", fault, o)
		}
	case where < 0:
		if o.start != nil && !refused(o.start) || o.cases != [2]error{} {
			t.Errorf("%s: %+v, want a refused hello or two measured cases", fault, o)
		}
	case o.start != nil || o.cases[1-where] != nil || o.cases[where] != nil && !refused(o.cases[where]):
		t.Errorf("%s: %+v, want case %d broken alone", fault, o, where)
	case o.cases[where] == nil && name != "cuFuncGetAttribute":
		t.Errorf("%s: no case broke, want case %d", fault, where)
	}
}
