package preflight

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func target(t *testing.T, name string) Target {
	t.Helper()
	if name == "" {
		return Target{}
	}
	found, err := TargetArch(name)
	if err != nil {
		if found, err = TargetCard(name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func parse(t *testing.T, benchmark string) *suite.Suite {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte("version: 1\nharness: {command: ./harness}\nbuild: {command: make}\nbenchmarks:\n  k: {"+benchmark+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The attention tile of M x N x K in FP16 with FP32 scores and row statistics.
const tile = "shared: 3*M*K*2 + M*N*4 + 2*M*4"

// What the suite itself computes is checked before anything is compiled; a stop is the end.
func TestBeforeCompiling(t *testing.T) {
	for name, c := range map[string]struct {
		benchmark, gpu string
		gate           Name
		state          State
		number, limit  float64
		text, fix      string
	}{
		"64x64x64 fits everywhere": {
			"matrix: {M: [64], N: [64], K: [64]}, preflight: {" + tile + "}", "sm_75", SharedMemory, Pass, 41472, 49152, "40.5 KB per block (max 48 KB), according to the suite", "",
		},
		"96x96x64 is too much for static": {
			"matrix: {M: [96], N: [96], K: [64]}, preflight: {" + tile + "}", "L4", SharedMemory, Stop, 74496, 49152, "72.8 KB of static shared memory per block, according to the suite; the limit is 48 KB",
			"cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 74496) before the launch (up to 99 KB on sm_89)",
		},
		"as dynamic it fits": {
			"matrix: {M: [96], N: [96], K: [64]}, preflight: {" + strings.Replace(tile, "shared", "dynamic", 1) + "}", "L4", SharedMemory, Pass, 74496, 101376, "72.8 KB per block (max 99 KB), according to the suite", "",
		},
		"not on Turing": {
			"matrix: {M: [96], N: [96], K: [64]}, preflight: {" + strings.Replace(tile, "shared", "dynamic", 1) + "}", "T4", SharedMemory, Stop, 74496, 65536, "72.8 KB of shared memory per block, according to the suite; sm_75 has 64 KB", "sm_80 has 163 KB",
		},
		"128x128x64 is above the opt-in": {
			"matrix: {M: [128], N: [128], K: [64]}, preflight: {" + strings.Replace(tile, "shared", "dynamic", 1) + "}", "L4", SharedMemory, Stop, 115712, 101376, "113 KB of shared memory per block", "sm_90 has 227 KB",
		},
		"and fits a Hopper": {
			"matrix: {M: [128], N: [128], K: [64]}, preflight: {" + strings.Replace(tile, "shared", "dynamic", 1) + "}", "sm_90", SharedMemory, Pass, 115712, 232448, "113 KB per block (max 227 KB)", "",
		},
		"without a GPU it is not known": {
			"matrix: {M: [64], N: [64], K: [64]}, preflight: {" + tile + "}", "", SharedMemory, Unknown, 41472, 0, "the target GPU is not known", "--arch sm_89",
		},
		"launch has dynamic memory too": {
			"matrix: {N: [64]}, arguments: {x: {in: f32, shape: [N]}}, launch: {file: k.cubin, kernel: k, grid: [1], block: [128], shared: 120000}", "sm_89", SharedMemory, Stop, 120000, 101376, "117.2 KB", "",
		},
		"a block is too large": {
			"matrix: {N: [2048]}, preflight: {threads: N}", "", Block, Stop, 2048, 1024, "2048 threads per block, the maximum is 1024", "a smaller block",
		},
		"a grid is too large": {
			"matrix: {N: [70000]}, arguments: {x: {in: f32, shape: [N]}}, launch: {file: k.cubin, kernel: k, grid: [1, N], block: [128]}", "sm_89", Block, Stop, 70000, 65535, "the grid has 70000 in y", "put the largest dimension in x",
		},
		"a block is too deep": {
			"matrix: {N: [128]}, arguments: {x: {in: f32, shape: [N]}}, launch: {file: k.cubin, kernel: k, grid: [1], block: [1, 1, N]}", "sm_89", Block, Stop, 128, 64, "the block has 128 in z", "in x",
		},
		"a launch that fits": {
			"matrix: {N: [128]}, arguments: {x: {in: f32, shape: [N]}}, launch: {file: k.cubin, kernel: k, grid: [1], block: [32, 8]}", "sm_89", Block, Pass, 256, 1024, "256 threads", "",
		},
		"more operations than there can be": {
			"matrix: {N: [4096], dtype: [fp16]}, flops: 2*N*N*N, claims: {gflops: 150000}", "L4", ClaimsGate, Stop, 150000, 121000, "150000 GFLOP/s claimed, but the peak of L4 is 121000 (fp16)", "measure it",
		},
		"a good claim": {
			"matrix: {N: [4096], dtype: [fp16]}, flops: 2*N*N*N, claims: {gflops: 95000}", "L4", ClaimsGate, Pass, 95000, 121000, "79 % of the peak of L4", "",
		},
		"FP32 may be TF32 inside": {
			"matrix: {N: [4096], dtype: [fp32]}, flops: 2*N*N*N, claims: {gflops: 50000}", "L4", ClaimsGate, Pass, 50000, 60000, "(tf32)", "",
		},
		"more bytes than the memory moves": {
			"matrix: {N: [4096]}, cache: cold, bytes: 8*N, claims: {gbps: 400}", "L4", ClaimsGate, Stop, 400, 300, "the memory bandwidth of L4 is 300", "measure it",
		},
		"which a warm cache may": {
			"matrix: {N: [4096]}, bytes: 8*N, claims: {gbps: 400}", "L4", ClaimsGate, Warn, 400, 300, "reads from a warm cache can be faster", "cache: cold",
		},
		"faster than light": {
			"matrix: {N: [4096], dtype: [fp16]}, flops: 2*N*N*N, claims: {time_us: 500}", "L4", ClaimsGate, Stop, 500, 1135.9, "500 us claimed, but L4 needs at least 1136 (limited by arithmetic)", "measure it",
		},
		"nothing bounds the time": {
			"matrix: {N: [4096]}, claims: {time_us: 500}", "L4", ClaimsGate, Unknown, 500, 0, "no lower bound is known", "set flops",
		},
		"an architecture has no peaks": {
			"matrix: {N: [4096]}, claims: {gflops: 1e9}", "sm_89", ClaimsGate, Unknown, 0, 0, "the peak rates of a card are needed", "--gpu L4",
		},
		"shorter than its launch": {
			"matrix: {N: [4096]}, flops: 2*N, claims: {time_us: 3}", "L4", Duration, Warn, 3, 10, "3 us as claimed: the launch alone takes 5 to 10 us", "larger tile",
		},
		"long by its work": {
			"matrix: {N: [4096], dtype: [fp16]}, flops: 2*N*N*N", "L4", Duration, Pass, 1135.9, 10, "1136 us at least, by its work", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			built := false
			r, err := Run(t.Context(), Options{
				Suite: parse(t, c.benchmark), Dir: t.TempDir(), Target: target(t, c.gpu),
				Build: func(context.Context, suite.Build, io.Writer) (measure.BuildFacts, error) {
					built = true
					return measure.BuildFacts{}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			gates := r.Of(c.gate)
			if len(gates) != 1 {
				t.Fatalf("%+v", r.Gates)
			}
			g := gates[0]
			if g.State != c.state || math.Abs(g.Number-c.number) > 0.1 || math.Abs(g.Limit-c.limit) > 0.1 || !strings.Contains(g.Text, c.text) || !strings.Contains(g.Fix, c.fix) {
				t.Errorf("%+v", g)
			}
			if g.State == Stop && g.Fix == "" {
				t.Errorf("a stop without a fix: %+v", g)
			}
			if built == (r.Worst() == Stop) {
				t.Errorf("built: %t, worst: %s", built, r.Worst())
			}
		})
	}
}

// How long a kernel takes is best known from the last record.
func TestDurationOfTheRecord(t *testing.T) {
	s := parse(t, "matrix: {N: [64, 128]}")
	last := &measure.Run{}
	last.Device.Kind = "nvidia"
	for config, ns := range map[string]float64{"N64": 4200, "N128": 52000} {
		last.Cases = append(last.Cases, measure.Case{
			CaseKey: measure.CaseKey{Benchmark: "k", Config: config, Implementation: "candidate"}, Unit: "ns",
			Rounds: []measure.CaseRound{{Samples: measure.Samples{ns, ns * 1.01, ns * 0.99}}},
		})
	}
	r, err := Run(t.Context(), Options{Suite: s, Dir: t.TempDir(), Last: last})
	if err != nil {
		t.Fatal(err)
	}
	if r.Worst() != Warn || len(r.Gates) != 2 || r.Gates[0].Config != "N64" || r.Gates[0].Number != 4.2 || r.Gates[1].State != Pass {
		t.Errorf("%+v", r.Gates)
	}
	last.Device.Kind = "cpu"
	if r, _ := Run(t.Context(), Options{Suite: s, Dir: t.TempDir(), Last: last}); len(r.Gates) != 0 {
		t.Errorf("on a CPU nothing is launched: %+v", r.Gates)
	}
}

func TestCaseThatDoesNotExist(t *testing.T) {
	_, err := Run(t.Context(), Options{Suite: parse(t, "matrix: {N: [64]}"), Dir: t.TempDir(), Case: "nope/*"})
	if _, ok := err.(*NoCaseError); !ok { //nolint:errorlint // it is returned as it is
		t.Error(err)
	}
}
