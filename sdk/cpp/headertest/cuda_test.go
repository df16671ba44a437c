package headertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// Compiling is what can be tested of CUDA without a GPU, and what a program says where there is none.
func TestCUDACompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("nvcc is slow")
	}
	nvcc := tool(t, "nvcc")
	for _, arch := range []string{"sm_80", "sm_89", "sm_90"} {
		for _, source := range []string{"../conformance.c", "testdata/gpu.cu"} {
			t.Run(arch+"/"+source, func(t *testing.T) {
				t.Parallel()
				if arch != "sm_89" {
					testrun.NightlyOnly(t)
				}
				program := build(t, nvcc, source, "-x=cu", "-arch="+arch, "-Xcompiler=-Wall,-Wextra")
				if exec.CommandContext(t.Context(), "nvidia-smi").Run() == nil {
					return // there is a GPU: the harness would use it
				}
				play(t, harness(program), `> {"id":1,"op":"hello","protocol":[1]}`,
					`< {"id":1,"op":"hello","error":{"code":"no_device","message":"<string looking for a CUDA device>"}}`)
			})
		}
	}
}

func TestHIPCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("hipcc is slow")
	}
	t.Setenv("HIP_PLATFORM", "amd") // hipcc chooses NVIDIA where it finds nvcc
	build(t, tool(t, "hipcc"), "testdata/gpu.cu", "-xhip", "--offload-arch=gfx90a", "-Wall", "-Wextra")
}

// The virtual GPU runs the CUDA side of pawl.h for real, but for the hardware.
func TestCUDAOnTheVirtualGPU(t *testing.T) {
	t.Parallel()
	h := harness(build(t, "../../virtualgpu/nvcc", "testdata/gpu.cu", "-O2", "-Wall", "-Wextra"), "VGPU_MHZ=2000", "VGPU_STEP=100")
	prepare := func(benchmark, params, more string) string {
		return `> {"id":2,"op":"prepare","benchmark":"` + benchmark + `","params":` + params + `,"timer":"device"` + more + `}`
	}
	const prepared = `< {"id":2,"op":"prepare","timer":"device","quantum_ns":"<number 1..>"}`
	t.Run("device timer", func(t *testing.T) {
		t.Parallel()
		// No sample can be shorter than the kernel; the clock is locked at 2000 MHz.
		play(t, h, `> {"id":1,"op":"hello","protocol":[1]}`,
			`< {"id":1,"op":"hello","timers":"<list device wall cpu>","device":{"name":"Virtual L4 0","runtime":"CUDA 12.4"}}`,
			prepare("busy", `{"us":100}`, ""), prepared,
			`> {"id":3,"op":"measure","samples":5,"warmup":true}`,
			`< {"id":3,"op":"measure","count":5,"batch":1,"samples":"<numbers 5 of 99999..>","clock_mhz":"<numbers 5 of 1500..2500>","note":"<absent>"}`,
			`> {"id":4,"op":"measure","samples":5}`,
			`< {"id":4,"op":"measure","count":5,"batch":1,"samples":"<numbers 5 of 99999..>","wall":"<numbers 5 of 99999..>","cpu":"<numbers 5>","clock_mhz":"<numbers 5 of 1500..2500>"}`,
			`> {"id":5,"op":"bye"}`, `< {"id":5,"op":"bye"}`, `exit 0`)
	})
	t.Run("the step of event times is measured", func(t *testing.T) {
		t.Parallel()
		for _, step := range []string{"1024", "500"} {
			play(t, harness(h.Command[0], "VGPU_STEP="+step), hello, prepare("busy", `{"us":100}`, ""),
				`< {"id":2,"op":"prepare","timer":"device","quantum_ns":`+step+`}`)
		}
	})
	t.Run("one odd multiprocessor does not move the clock", func(t *testing.T) {
		t.Parallel()
		play(t, harness(h.Command[0], "VGPU_MHZ=2000", "VGPU_ODD_UNIT=1"), hello, prepare("busy", `{"us":100}`, ""), prepared,
			`> {"id":3,"op":"measure","samples":5}`, `< {"id":3,"op":"measure","count":5,"clock_mhz":"<numbers 5 of 1500..2500>"}`)
	})
	t.Run("other timers", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			`> {"id":2,"op":"prepare","benchmark":"busy","params":{"us":100},"timer":"wall"}`, `< {"id":2,"op":"prepare","timer":"wall"}`,
			`> {"id":3,"op":"measure","samples":5}`,
			`< {"id":3,"op":"measure","count":5,"samples":"<numbers 5 of 99999..>","clock_mhz":"<absent>","wall":"<absent>"}`)
	})
	t.Run("cold", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			prepare("busy", `{"us":100}`, `,"cache":"cold"`), prepared,
			`> {"id":3,"op":"measure","samples":3}`, `< {"id":3,"op":"measure","count":3,"samples":"<numbers 3 of 99999..>"}`)
	})
	t.Run("calibration", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello, prepare("pawl.calibration", `{}`, ""), prepared,
			`> {"id":3,"op":"measure","samples":2}`, `< {"id":3,"op":"measure","count":2,"samples":"<numbers 2 of 1..>"}`)
	})
	t.Run("a run that synchronises", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			prepare("selfsync", `{"us":100}`, ""), prepared,
			`> {"id":3,"op":"measure","samples":2}`,
			`< {"id":3,"op":"measure","count":2,"samples":"<numbers 2 of 99999..>","note":"<string your run function synchronises>"}`,
			// The next case is held back again.
			prepare("busy", `{"us":100}`, ""), prepared,
			`> {"id":4,"op":"measure","samples":2}`, `< {"id":4,"op":"measure","count":2,"note":"<absent>"}`)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			prepare("badlaunch", `{}`, ""), prepared,
			`> {"id":3,"op":"measure","samples":1}`,
			`< {"id":3,"op":"measure","error":{"code":"failed","message":"<string launching a run: virtual error (cudaErrorInvalidConfiguration)>"}}`,
			prepare("greedy", `{}`, ""),
			`< {"id":2,"op":"prepare","error":{"code":"no_memory","message":"<string out of memory>"}}`,
			prepare("stumble", `{"us":1}`, ""), prepared,
			`> {"id":4,"op":"measure","samples":100000}`, `< {"id":4,"op":"measure","error":{"code":"failed","message":"stumbled"}}`,
			prepare("busy", `{"us":100}`, ""), prepared,
			`> {"id":5,"op":"measure","samples":2}`, `< {"id":5,"op":"measure","count":2}`)
	})
	t.Run("profile", func(t *testing.T) {
		t.Parallel()
		seen := filepath.Join(t.TempDir(), "seen")
		play(t, harness(h.Command[0], "VGPU_TRACE="+seen), hello,
			prepare("busy", `{"us":1}`, ""), prepared,
			`> {"id":3,"op":"profile","iterations":2,"warmup":3}`, `< {"id":3,"op":"profile","iterations":2,"launches":"<absent>"}`,
			prepare("busy", `{"us":1}`, `,"cache":"cold"`), prepared,
			`> {"id":4,"op":"profile","iterations":1}`, `< {"id":4,"op":"profile","iterations":1}`,
			prepare("badlaunch", `{}`, ""), prepared,
			`> {"id":5,"op":"profile","iterations":1}`, `< {"id":5,"op":"profile","error":{"code":"failed","message":"<string launching a run>"}}`)
		trace, err := os.ReadFile(seen)
		if err != nil {
			t.Fatal(err)
		}
		var launches []int
		for _, part := range strings.Split(string(trace), "profile start 0\n")[1:] {
			inside, _, _ := strings.Cut(part, "profile stop 0\n")
			launches = append(launches, strings.Count("\n"+inside, "\nkernel "))
		}
		// The launches of the runs, no sweep and no hold. The last launched nothing.
		if want := []int{2, 1, 0}; !slices.Equal(launches, want) {
			t.Errorf("launches in the profiled ranges %v, want %v", launches, want)
		}
	})
	t.Run("arguments", func(t *testing.T) {
		t.Parallel()
		playDeviceArguments(t, h)
	})
	const second = "GPU-00000000-0000-0000-0000-000000000001"
	t.Run("the device pawl chose", func(t *testing.T) {
		t.Parallel()
		ask := `> {"id":1,"op":"hello","protocol":[1],"device":{"kind":"nvidia","uuid":"` + second + `"}}`
		play(t, harness(h.Command[0], "VGPU_DEVICES=2"), ask, `< {"id":1,"op":"hello","device":{"name":"Virtual L4 1"}}`)
		// The user's own CUDA_VISIBLE_DEVICES stays, so the device must be found among those.
		play(t, harness(h.Command[0], "VGPU_DEVICES=2", "CUDA_VISIBLE_DEVICES="+second), ask, `< {"id":1,"op":"hello","device":{"name":"Virtual L4 1"}}`)
		play(t, harness(h.Command[0], "VGPU_DEVICES=2", "CUDA_VISIBLE_DEVICES=0"), ask, `< {"id":1,"op":"hello","error":{"code":"no_device","message":"<string `+second+`>"}}`)
		play(t, harness(h.Command[0], "CUDA_VISIBLE_DEVICES="), ask, `< {"id":1,"op":"hello","error":{"code":"no_device","message":"<string `+second+`>"}}`)
	})
}
