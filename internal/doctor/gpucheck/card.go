package gpucheck

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
)

// maxStateTime is the limit of one reading of a state: a watcher reads ten per second.
const maxStateTime = 10 * time.Millisecond

// getters calls every getter of NVML once.
func getters(_ context.Context, e *exam) (State, string) {
	dev, ok := e.Device.(interface{ Getters() []nvml.Getter })
	if !ok {
		return notRun("the GPU is not read through NVML")
	}
	var total time.Duration
	var wrong, missing []string
	list := dev.Getters()
	for _, g := range list {
		total += g.Took
		e.report.Facts["nvml_us"] = append(e.report.Facts["nvml_us"], float64(g.Took)/1e3)
		switch {
		case g.Unexpected:
			wrong = append(wrong, fmt.Sprintf("%s answered %d", g.Symbol, g.Code))
		case g.Code != 0:
			missing = append(missing, strings.TrimPrefix(g.Symbol, "nvmlDeviceGet"))
		}
	}
	if len(wrong) > 0 {
		return failed("%s", strings.Join(wrong, ", "))
	}
	text := fmt.Sprintf("%d getters in %.2f ms", len(list), float64(total)/1e6)
	if len(missing) > 0 {
		text += ", without an answer: " + strings.Join(missing, ", ")
	}
	return decide(total < maxStateTime, "%s", text)
}

// memoryTolerance is by how much NVML and CUDA may differ: CUDA leaves out what the driver reserves.
const memoryTolerance = 0.08

// agreement compares the card of NVML with the card that CUDA opens under the same UUID.
func agreement(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "card", "units", "memory_bytes", "capability")
	if err != nil {
		return without(err)
	}
	units, memory, capability := int(v[0][0]), v[1][0], int(v[2][0])
	ok := e.id.Units == units && math.Abs(memory/float64(e.id.MemoryBytes)-1) <= memoryTolerance &&
		e.id.ComputeCapability == fmt.Sprintf("%d.%d", capability/10, capability%10)
	return decide(ok, "multiprocessors %d and %d, memory %.2f and %.2f GB, compute capability %s and %d.%d (NVML and CUDA); the UUID was found",
		e.id.Units, units, float64(e.id.MemoryBytes)/1e9, memory/1e9, e.id.ComputeCapability, capability/10, capability%10)
}

// table compares the card with the hardware table.
func table(ctx context.Context, e *exam) (State, string) {
	c, ok := gpu.CardOf(e.id)
	if !ok {
		return notRun("%s is not in the hardware table: pawl uses what the driver reports", e.id.Name)
	}
	v, err := e.measured(ctx, "card", "units", "l2_bytes", "shared_bytes")
	if err != nil {
		return without(err)
	}
	arch, err := gpu.FindArch(c.Arch)
	if err != nil {
		return failed("%v", err)
	}
	var differ []string
	compare := func(what string, known bool, want, got float64) {
		if known && math.Abs(got/want-1) > 0.005 {
			differ = append(differ, fmt.Sprintf("%s: %.6g in the table, %.6g on the card", what, want, got))
		}
	}
	compare("multiprocessors", c.SMs.Known(), float64(c.SMs.Value), v[0][0])
	compare("L2 in MB", c.L2MB.Known(), c.L2MB.Value, v[1][0]/(1<<20))
	compare("shared memory of a block", arch.SharedPerBlock.Known(), float64(arch.SharedPerBlock.Value), v[2][0])
	if len(differ) > 0 {
		return failed("%s", strings.Join(differ, "; "))
	}
	return passed("%s: %.0f multiprocessors, %.4g MB of L2, %.0f bytes of shared memory in a block", c.Name, v[0][0], v[1][0]/(1<<20), v[2][0])
}

// occupancy compares the driver's occupancy of 200 launches with pawl's formula.
func occupancy(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "card", "kernel", "occupancy", "capability")
	if err != nil || len(v[0]) < 2 {
		return without(err)
	}
	arch, err := gpu.FindArch(fmt.Sprintf("%d", int(v[2][0])))
	if err != nil {
		return notRun("%v", err)
	}
	equal, first := 0, ""
	launches := v[1]
	for i := 0; i+2 < len(launches); i += 3 {
		l := gpu.Launch{Threads: int(launches[i]), DynamicShared: int(launches[i+1]), Registers: int(v[0][0]), StaticShared: int(v[0][1])}
		o, err := arch.Occupancy(l)
		switch {
		case err == nil && o.BlocksPerSM == int(launches[i+2]):
			equal++
		case first == "":
			first = fmt.Sprintf("; the first that differs: %d threads, %d + %d bytes of shared memory, %d registers: %d blocks by the driver, %d by pawl",
				l.Threads, l.StaticShared, l.DynamicShared, l.Registers, int(launches[i+2]), o.BlocksPerSM)
		}
	}
	return decide(equal == len(launches)/3, "%d of %d equal%s", equal, len(launches)/3, first)
}

// ownKernels reports how long the driver takes to compile pawl's own kernels.
func ownKernels(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "card", "own_load_ns", "check_load_ns")
	if err != nil {
		return failed("%v", err)
	}
	return passed("a context with the launcher's kernels in %.0f ms, those of the checks in %.0f ms", v[0][0]/1e6, v[1][0]/1e6)
}
