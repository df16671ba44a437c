package gpu_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
)

// Every answer is that of NVIDIA's own header, where a toolkit is installed: the same
// blocks, and the same limit of every resource.
func TestOccupancyEqualsTheHeader(t *testing.T) {
	calculator := compileHeader(t)
	const each = 600
	random := rand.New(rand.NewPCG(1, 2))
	var in bytes.Buffer
	var launches []gpu.Launch
	var archs []gpu.Arch
	for _, arch := range gpu.Archs() {
		cc, ok := headerKnows(arch)
		if !ok {
			continue
		}
		for range each {
			l, percent := randomLaunch(random, arch)
			fmt.Fprintln(&in, cc, arch.ThreadsPerSM.Value, arch.SharedPerSM.Value, arch.SharedPerBlock.Value, arch.SharedReserved.Value,
				l.Threads, l.Registers, l.StaticShared, l.DynamicShared, percent, l.Barriers)
			archs, launches = append(archs, arch), append(launches, l)
		}
	}
	cmd := exec.CommandContext(t.Context(), calculator)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the calculator failed: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(launches) {
		t.Fatalf("the calculator answered %d of %d launches", len(lines), len(launches))
	}
	for i, l := range launches {
		o, err := archs[i].Occupancy(l)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(o.BlocksPerSM, limitOf(o, gpu.LimitWarps), limitOf(o, gpu.LimitRegisters), limitOf(o, gpu.LimitShared), limitOf(o, gpu.LimitBarriers))
		if got != lines[i] {
			t.Fatalf("%s %+v: %s, the header says %s (blocks, warps, registers, shared memory, barriers)", archs[i].Name, l, got, lines[i])
		}
	}
	t.Logf("%d launches equal", len(launches))
}

func limitOf(o gpu.Occupancy, r gpu.Resource) int {
	if n, ok := o.Limit(r); ok {
		return n
	}
	return -1
}

// headerKnows gives the compute capability to ask the header of CUDA 11.8 about: it
// ends with 9.0, but computes alike for later ones of the same SM.
func headerKnows(a gpu.Arch) (string, bool) {
	switch a.Name {
	case "sm_100", "sm_103":
		return "9 0", true
	case "sm_110":
		return "", false
	case "sm_88":
		return "8 6", true
	case "sm_120", "sm_121":
		return "8 9", true
	default:
		return strings.Replace(a.ComputeCapability, ".", " ", 1), true
	}
}

func randomLaunch(random *rand.Rand, arch gpu.Arch) (l gpu.Launch, percent int) {
	l = gpu.Launch{Threads: 1 + random.IntN(1100), Registers: random.IntN(256), DynamicShared: random.IntN(arch.SharedPerSM.Value + 2048)}
	if random.IntN(2) == 0 {
		l.DynamicShared /= 1 + random.IntN(40)
	}
	l.StaticShared = random.IntN(2) * random.IntN(min(l.DynamicShared, 48<<10)+1)
	l.DynamicShared -= l.StaticShared
	percent = -1
	if random.IntN(2) == 0 {
		percent = 1 + random.IntN(100)
		l.Carveout = percent * arch.SharedPerSM.Value / 100
	}
	if arch.Name == "sm_90" {
		l.Barriers = random.IntN(17)
	}
	return l, percent
}

func compileHeader(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	program := filepath.Join(t.TempDir(), "occupancy")
	args := []string{"-o", program, filepath.Join("testdata", "occupancy.c")}
	if home := os.Getenv("CUDA_HOME"); home != "" {
		args = append(args, "-I", filepath.Join(home, "include"))
	}
	if out, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("cuda_occupancy.h")) && bytes.Contains(out, []byte("No such file")) {
			t.Skip("no cuda_occupancy.h: install a CUDA toolkit, or set CUDA_HOME")
		}
		t.Fatalf("compiling the calculator: %v\n%s", err, out)
	}
	return program
}
