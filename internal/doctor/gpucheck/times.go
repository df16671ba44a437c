package gpucheck

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/stats"
)

const (
	maxEventStep = 2e3   // ns
	maxTimerStep = 1.1e3 // ns
	minGiveUp    = 0.2e9 // ns
	maxGiveUp    = 0.6e9 // ns
	minQueue     = 512
	// maxHeld is the longest an empty kernel may take while the host does something else for 5 ms.
	maxHeld = 1e6 // ns
)

// eventStep compares the step that a probe finds with the one that a session reports.
func eventStep(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "times", "step_ns")
	if err != nil {
		return without(err)
	}
	step := v[0][0]
	s, err := e.session(ctx)
	if err != nil {
		return failed("%v", err)
	}
	defer s.Kill()
	p, err := e.prepare(ctx, s, spin, nil)
	if err != nil {
		return failed("%v", err)
	}
	return decide(step >= 1 && step <= maxEventStep && p.Quantum == step, "%.0f ns; a session reports %.0f ns", step, p.Quantum)
}

func timerStep(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "times", "timer_step_ns")
	if err != nil {
		return without(err)
	}
	return decide(v[0][0] > 0 && v[0][0] <= maxTimerStep, "%.0f ns", v[0][0])
}

func emptyKernel(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "times", "step_ns", "empty_ns")
	if err != nil {
		return without(err)
	}
	low, high := slices.Min(v[1]), slices.Max(v[1])
	return decide(high-low <= 1.01*v[0][0], "%.0f to %.0f ns, one step is %.0f ns", low, high, v[0][0])
}

// knownTime compares events with the device's own timer.
func knownTime(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "times", "step_ns", "empty_ns", "timer_step_ns", "spin_ns")
	if err != nil {
		return without(err)
	}
	room := v[0][0] + slices.Max(v[1]) + v[2][0]
	var texts []string
	ok := true
	for pair := range slices.Chunk(v[3], 2) {
		want, got := pair[0], pair[1]
		ok = ok && math.Abs(got-want) <= room+0.01*want
		texts = append(texts, fmt.Sprintf("%.0f us as %.1f", want/1e3, got/1e3))
	}
	return decide(ok, "%s", strings.Join(texts, ", "))
}

func batches(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "times", "step_ns", "empty_ns", "batch_ns")
	if err != nil {
		return without(err)
	}
	var texts []string
	low, high := math.Inf(1), 0.0
	for pair := range slices.Chunk(v[2], 2) {
		low, high = min(low, pair[1]), max(high, pair[1])
		texts = append(texts, fmt.Sprintf("%.2f us in a batch of %.0f", pair[1]/1e3, pair[0]))
	}
	return decide(high-low <= v[0][0]+stats.Median(v[1]), "%s", strings.Join(texts, ", "))
}

func hold(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "hold", "held_ns")
	if err != nil {
		return without(err)
	}
	return decide(v[0][0] < maxHeld, "an empty kernel takes %.1f us while the host is busy for 5 ms", v[0][0]/1e3)
}

func giveUp(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "hold", "give_up_ns", "gave_up")
	if err != nil {
		return without(err)
	}
	ok := v[0][0] >= minGiveUp && v[0][0] <= maxGiveUp && v[1][0] != 0
	return decide(ok, "after %.2f s, noted: %v", v[0][0]/1e9, v[1][0] != 0)
}

func queueDepth(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "hold", "queue")
	if err != nil {
		return without(err)
	}
	return decide(v[0][0] >= minQueue, "%.0f launches", v[0][0])
}

// turns looks at the samples of two contexts that take turns.
func turns(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "turns", "turn_ns")
	if err != nil {
		return without(err)
	}
	const turn, settled = 10, 2
	median := stats.Median(v[0])
	worst, first := 0.0, 0.0
	for samples := range slices.Chunk(v[0], turn) {
		first = max(first, samples[0]-median)
		for _, s := range samples[min(settled, len(samples)):] {
			worst = max(worst, math.Abs(s/median-1))
		}
	}
	return decide(worst <= 0.03, "the first sample after a switch costs up to %.1f us; from the third on samples differ by up to %.2f %%", first/1e3, 100*worst)
}
