package demo

import (
	"math/rand/v2"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// machine is one of the three machines that the project measures on.
type machine struct {
	name   string
	bed    measure.Testbed
	device gpu.Identity
	speed  float64 // time relative to the slowest GPU
	noise  float64
	suites []string

	temperature, clock, memory, power, calibration, price float64
}

const (
	l4   = "NVIDIA L4"
	h100 = "NVIDIA H100 PCIe"
	cpu  = "AMD EPYC 9354"
)

var machines = []machine{
	{
		name: l4, speed: 1, noise: 0.006, suites: []string{"attention", "blocks"},
		bed:         measure.Testbed{Kind: gpu.NVIDIA, Device: l4, Driver: "570.124.06", PowerCapW: 72, ECC: "on", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		device:      gpu.Identity{Kind: gpu.NVIDIA, Name: l4, UUID: "GPU-5a1f0c1e", Driver: "570.124.06", CUDA: "12.8", ComputeCapability: "8.9", Units: 58, MemoryBytes: 24 << 30, CacheBytes: 48 << 20},
		temperature: 61, clock: 1650, memory: 6251, power: 68, calibration: 412_000, price: 0.7,
	},
	{
		name: h100, speed: 0.19, noise: 0.004, suites: []string{"attention", "blocks"},
		bed:         measure.Testbed{Kind: gpu.NVIDIA, Device: h100, Driver: "570.124.06", PowerCapW: 350, ECC: "on", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase}},
		device:      gpu.Identity{Kind: gpu.NVIDIA, Name: h100, UUID: "GPU-91bb2d70", Driver: "570.124.06", CUDA: "12.8", ComputeCapability: "9.0", Units: 114, MemoryBytes: 80 << 30, CacheBytes: 50 << 20},
		temperature: 48, clock: 1125, memory: 1593, power: 247, calibration: 96_000, price: 2.4,
	},
	{
		name: cpu, speed: 60, noise: 0.011, suites: []string{"blocks"},
		bed:         measure.Testbed{Kind: gpu.CPU, Device: cpu, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		device:      gpu.Identity{Kind: gpu.CPU, Name: cpu, Units: 32, MemoryBytes: 384 << 30, CacheBytes: 256 << 20},
		temperature: 57, clock: 3720, calibration: 1_910_000, price: 0.5,
	},
}

// benchmark is one kernel of the suites, with its shapes.
type benchmark struct {
	suite, name, path, owner string
	ns                       float64 // at its first config on the slowest GPU
	configs                  []string
}

var benchmarks = []benchmark{
	{"attention", "flash_fwd", "kernels/attention/flash.cu", "@demo/attention", 118_000, []string{"B4_H16_S512_D64", "B4_H16_S1024_D64", "B4_H16_S2048_D64", "B1_H32_S4096_D128", "B1_H32_S8192_D128"}},
	{"attention", "flash_bwd", "kernels/attention/flash.cu", "@demo/attention", 342_000, []string{"B4_H16_S512_D64", "B4_H16_S1024_D64", "B4_H16_S2048_D64", "B1_H32_S4096_D128"}},
	{"attention", "decode", "kernels/attention/decode.cu", "@demo/attention", 21_500, []string{"B1_S2048", "B8_S2048", "B32_S2048", "B8_S16384"}},
	{"attention", "rope", "kernels/attention/rope.cu", "@demo/attention", 9_700, []string{"S512", "S2048", "S8192"}},
	{"blocks", "matmul", "kernels/blocks/matmul.cu", "@demo/blocks", 64_000, []string{"M512_N512_K512", "M1024_N1024_K1024", "M2048_N2048_K2048", "M4096_N4096_K4096"}},
	{"blocks", "softmax", "kernels/blocks/softmax.cu", "@demo/blocks", 15_200, []string{"R1024_C1024", "R4096_C1024", "R4096_C4096"}},
	{"blocks", "rms_norm", "kernels/blocks/norm.cu", "@demo/blocks", 11_800, []string{"R2048_C2048", "R4096_C4096", "R8192_C8192"}},
	{"blocks", "reduce", "kernels/blocks/reduce.cu", "@demo/blocks", 8_400, []string{"N1M", "N16M", "N64M"}},
	{"blocks", "transpose", "kernels/blocks/transpose.cu", "", 18_900, []string{"N1024", "N4096", "N8192"}},
}

// machineCase is one case on one machine, with its properties that stay fixed for the year.
type machineCase struct {
	measure.CaseKey
	benchmark
	machine *machine
	level   float64
	noise   float64
	timer   measure.Timer
	best    float64 // level of its baseline
}

// cases generates the cases, each benchmark with at most configs configs.
func cases(r *rand.Rand, configs int) []*machineCase {
	var list []*machineCase
	for m := range machines {
		for _, b := range benchmarks {
			if !strings.Contains(strings.Join(machines[m].suites, " "), b.suite) {
				continue
			}
			ns := b.ns * machines[m].speed
			for i, config := range b.configs[:min(configs, len(b.configs))] {
				if i > 0 {
					ns *= 2.3 + 1.4*r.Float64()
				}
				k := &machineCase{
					CaseKey: measure.CaseKey{Benchmark: b.name, Config: config, Implementation: measure.Candidate},
					machine: &machines[m], benchmark: b, level: ns, noise: machines[m].noise * (0.7 + 0.8*r.Float64()), timer: measure.TimerDevice,
				}
				if k.machine.bed.Kind == gpu.CPU {
					k.timer = measure.TimerWall
				}
				list = append(list, k)
			}
		}
	}
	return list
}
