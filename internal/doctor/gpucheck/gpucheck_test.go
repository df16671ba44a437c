//go:build linux && (amd64 || arm64)

package gpucheck

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// launchers keeps the launcher between tests.
var launchers string

const holdVar = "GPUCHECK_HOLD" // names the folder of locks for a process that check 22 kills

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVar); dir != "" {
		if err := holdForTest(dir); err != nil {
			fmt.Println(err)
		}
		return
	}
	var err error
	if launchers, err = os.MkdirTemp("", "gpucheck-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(launchers)
	os.Exit(code)
}

func holdForTest(dir string) error {
	dev, err := firstGPU(context.Background(), time.Now)
	if err != nil {
		return err
	}
	return HoldClocks(context.Background(), dev, device.LockOptions{Dir: dir}, func(line string) { fmt.Println(line) })
}

func firstGPU(ctx context.Context, now func() time.Time) (device.Device, error) {
	inv, err := device.List(ctx, device.Options{Now: now})
	if err != nil {
		return nil, err
	}
	return inv.Select(gpu.NVIDIA, "")
}

// healthy are the settings of a card on which every assumption holds, at its real size.
var healthy = []string{"VGPU_CARD=L4", "VGPU_NAME=NVIDIA L4", "VGPU_SCALE=1"}

// onModel runs some checks on a new virtual GPU.
func onModel(t *testing.T, only []int, now func() time.Time, settings ...string) *Report {
	t.Helper()
	v := devicetest.UseVirtual(t, append(slices.Clone(healthy), settings...)...)
	dev, err := firstGPU(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	locks := t.TempDir()
	r, err := Run(t.Context(), Options{
		Device: dev, Version: "test", CacheDir: launchers, Env: v.Env(), Locks: device.LockOptions{Dir: locks}, Only: only, Now: now,
		Hold: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), holdVar+"="+locks)
			return cmd
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fixed() time.Time { return noon }

// notOnModel are the checks that the model cannot represent: it has no profilers, no pawl.h and no Python.
var notOnModel = []int{9, 17, 29}

func TestRun_PassesOnAHealthyCard(t *testing.T) {
	r := onModel(t, nil, fixed)
	if len(r.Results) != 32 {
		t.Fatalf("%d results, want 32", len(r.Results))
	}
	for _, c := range r.Results {
		want := Passed
		if slices.Contains(notOnModel, c.Number) {
			want = NotRun
		}
		if c.State != want {
			t.Errorf("check %d, %s: %s, want %s: %s", c.Number, c.Name, c.State, want, c.Message)
		}
	}
	if n := r.Count(Passed); n < 26 {
		t.Errorf("%d checks pass on the model, want 26 or more", n)
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(body), r.Text()} {
		if strings.Contains(text, "GPU-00000000") {
			t.Error("the report contains the UUID")
		}
	}
	if !strings.HasPrefix(r.Text(), "pawl's assumptions hold on this NVIDIA L4: 29 checks passed, 3 could not run here\n") {
		t.Errorf("the text starts with %.120q", r.Text())
	}
	integrated, counted, ok := energies(slices.Collect(slices.Chunk(r.Facts["load"], 5)))
	if !ok || counted < 500 || integrated < 0.98*counted || integrated > 1.02*counted {
		t.Errorf("the integral of power is %.1f J, the counter says %.1f", integrated, counted)
	}
	t.Logf("energy: integral %.1f J, counter %.1f J\n%s", integrated, counted, r.Text())
}

// broken has for each check settings of the model under which its assumption does not hold, and what
// the check then says: that it failed is not enough, since it also fails where nothing can be measured.
var broken = map[int]struct{ settings, says string }{
	1:  {"VGPU_FAULT=nvmlDeviceGetPowerUsage:-1=999", "nvmlDeviceGetPowerUsage answered 999"},
	2:  {"VGPU_BREAK=units", "multiprocessors 59 and 58"},
	3:  {"VGPU_SCALE=2", "L2 in MB: 48 in the table, 24 on the card"}, // half of the cache
	4:  {"VGPU_BREAK=occupancy", "of 200 equal; the first that differs"},
	5:  {"VGPU_STEP=50000", "50000 ns"},
	6:  {"VGPU_TIMER=32000", "32000 ns"},
	7:  {"VGPU_BREAK=jitter", "one step is 1024 ns"},
	8:  {"VGPU_BREAK=events", "10000 us as 10300"},
	10: {"VGPU_BREAK=clock", "MHz by NVML"},
	11: {"VGPU_BREAK=hold", "us while the host is busy for 5 ms"},
	12: {"VGPU_MHZ=500", "noted: true"},
	13: {"VGPU_QUEUE=256", "255 launches"},
	14: {"VGPU_BREAK=bandwidth", "50 % of 300"},
	15: {"VGPU_BREAK=cache", "GB/s hot"},
	16: {"VGPU_BREAK=persist", "after a kernel asked the cache"},
	18: {"VGPU_BREAK=modes", "2, at ["},
	19: {"VGPU_BREAK=gaps", "in a batch of 64"},
	20: {"VGPU_BREAK=fast", "TFLOP/s of"},
	21: {"VGPU_BREAK=lock", "1224MHz: 15"},
	22: {"VGPU_FAULT=nvmlDeviceResetGpuLockedClocks:-1=999", "restored: false"},
	23: {"VGPU_BREAK=slowdown", "20 of 20 starts"},
	24: {"VGPU_BREAK=processes", "1 of pawl's own called foreign"},
	25: {"VGPU_FAULT=cuLaunchKernel:-1=999", "a kernel with an illegal address: "},
	26: {"VGPU_BREAK=crash", "a wrong image: "},
	27: {"VGPU_FAULT=cuModuleLoadData:-1=218", "loading the launcher's own kernels"},
	28: {"VGPU_FAULT=cuFuncGetParamInfo:-1=999", "a kernel with two hidden pointers: "},
	30: {"VGPU_BREAK=drift", "same code: "},
	31: {"VGPU_BREAK=switch", "from the third on samples differ by up to 33.33"},
	32: {"VGPU_FAULT=nvmlDeviceGetTemperature:-1=999", "readings: "},
}

func TestRun_FailsWhenAnAssumptionIsBroken(t *testing.T) {
	for _, c := range checks {
		b, ok := broken[c.number]
		if !ok {
			if !slices.Contains(notOnModel, c.number) {
				t.Errorf("check %d, %s: nothing breaks it", c.number, c.name)
			}
			continue
		}
		t.Run(fmt.Sprintf("%d %s", c.number, c.name), func(t *testing.T) {
			r := onModel(t, []int{c.number}, fixed, b.settings)
			if len(r.Results) != 1 || r.Results[0].State != Failed || r.Results[0].Means == "" {
				t.Fatalf("%s: %+v, want a failure", b.settings, r.Results)
			}
			if !strings.Contains(r.Results[0].Message, b.says) {
				t.Errorf("%s: %q, want %q", b.settings, r.Results[0].Message, b.says)
			}
			if !strings.Contains(r.Text(), "this means: "+c.means) {
				t.Errorf("the text does not say what it means:\n%s", r.Text())
			}
		})
	}
}

func TestRun_MakesATensorMapWhereThereIsTMA(t *testing.T) {
	r := onModel(t, []int{28}, fixed, "VGPU_CARD=H100", "VGPU_NAME=NVIDIA H100 80GB HBM3")
	if r.Results[0].State != Passed || !strings.Contains(r.Results[0].Message, "hidden pointers and a tensor map run") {
		t.Errorf("%+v", r.Results)
	}
}

// A reading that is slow disturbs the round.
func TestRun_FailsWhenAStateIsSlow(t *testing.T) {
	at := noon
	r := onModel(t, []int{1}, func() time.Time { at = at.Add(time.Millisecond); return at })
	if r.Results[0].State != Failed || !strings.Contains(r.Results[0].Message, "13 getters in 13.00 ms") {
		t.Errorf("%+v", r.Results)
	}
}

// What the model has no tools for is tested on their recorded output.
func TestProfilers_SeeThePlantedKernelInRecordedOutput(t *testing.T) {
	folder := os.Getenv("PAWL_DATA")
	if folder == "" {
		t.Skip("PAWL_DATA is not set")
	}
	file, err := os.Open(filepath.Join(folder, "ncu", "real", "CudaCode_gemm_reps_naive.raw.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := profile.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if state, text := seen(p.Launches[0].Kernel, p); state != Passed {
		t.Errorf("%s: %s", state, text)
	}
	if state, text := seen("check_spin", p); state != Failed {
		t.Errorf("%s: %s", state, text)
	}
}

func TestCompareTrace(t *testing.T) {
	trace := &profile.Profile{Tool: profile.Tool{Name: "nsys"}, Launches: []profile.Launch{{Kernel: spin, Metrics: []profile.Metric{
		{Name: "Start", Unit: "ns", Value: new(0.0)}, {Name: "Duration", Unit: "ns", Value: new(400e3)},
	}}}}
	for ns, want := range map[float64]State{401e3: Passed, 404e3: Failed, 396e3: Failed} {
		if state, text := compareTrace([]float64{ns}, trace, 1); state != want {
			t.Errorf("%v ns: %s, want %s: %s", ns, state, want, text)
		}
	}
}

func TestScrub_RemovesIdentifiers(t *testing.T) {
	id := gpu.Identity{UUID: "MIG-1", Parent: "GPU-2"}
	host, _ := os.Hostname()
	got := scrub("no MIG-1 on GPU-2 of "+host, id)
	if strings.Contains(got, "MIG-1") || strings.Contains(got, "GPU-2") || len(host) > 3 && strings.Contains(got, host) {
		t.Errorf("%q", got)
	}
}
