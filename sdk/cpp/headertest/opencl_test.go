package headertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildOpenCL skips where OpenCL cannot be linked or has no device.
func buildOpenCL(t *testing.T, source string, flags ...string) string {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe.c")
	const program = "#define PAWL_OPENCL\n#include \"pawl.h\"\nint main(void) { pawli_open(NULL); return 0; }\n"
	if err := os.WriteFile(probe, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "probe")
	if out, err := exec.CommandContext(t.Context(), tool(t, "gcc"), "-I..", "-w", "-o", binary, probe, "-lOpenCL").CombinedOutput(); err != nil {
		t.Skipf("there is no OpenCL to link here: %v\n%.300s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), binary).CombinedOutput(); err != nil {
		t.Skipf("there is no OpenCL device here: %s", out)
	}
	return build(t, "gcc", source, append(flags, "-O2", "-lOpenCL")...)
}

// openCLEnv keeps the driver's cache of compiled kernels inside the test.
func openCLEnv(t *testing.T) []string {
	t.Helper()
	return []string{"POCL_CACHE_DIR=" + t.TempDir()}
}

const hello = `> {"id":1,"op":"hello","protocol":[1]}
< {"id":1,"op":"hello","protocol":1}`

func TestOpenCL(t *testing.T) {
	t.Parallel()
	h := harness(buildOpenCL(t, "testdata/opencl.c"), openCLEnv(t)...)
	prepare := func(params, timer string) string {
		return `> {"id":2,"op":"prepare","benchmark":"steps","params":` + params + `,"timer":"` + timer + `"}`
	}
	t.Run("device timer", func(t *testing.T) {
		t.Parallel()
		play(t, h, `> {"id":1,"op":"hello","protocol":[1]}`,
			`< {"id":1,"op":"hello","timers":["device","wall","cpu"],"device":{"name":"<string>","runtime":"<string OpenCL>"}}`,
			prepare(`{"n":100000}`, "device"), `< {"id":2,"op":"prepare","timer":"device","quantum_ns":"<number 0.001..>"}`,
			`> {"id":3,"op":"measure","samples":10}`,
			`< {"id":3,"op":"measure","count":10,"samples":"<numbers 10 of 1..>","wall":"<numbers 10>","cpu":"<numbers 10>"}`)
	})
	t.Run("other timers and cold", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			prepare(`{"n":1000,"launches":3}`, "wall"), `< {"id":2,"op":"prepare","timer":"wall"}`,
			`> {"id":3,"op":"measure","samples":5}`, `< {"id":3,"op":"measure","count":5,"samples":"<numbers 5>","wall":"<absent>"}`,
			`> {"id":4,"op":"prepare","benchmark":"steps","params":{"n":10,"launches":2},"timer":"device","cache":"cold"}`,
			`< {"id":4,"op":"prepare","timer":"device"}`,
			`> {"id":5,"op":"measure","samples":3}`, `< {"id":5,"op":"measure","count":3,"samples":"<numbers 3>"}`,
			`> {"id":6,"op":"prepare","benchmark":"pawl.calibration","timer":"device"}`, `< {"id":6,"op":"prepare","timer":"device"}`,
			`> {"id":7,"op":"measure","samples":5}`, `< {"id":7,"op":"measure","count":5,"samples":"<numbers 5>"}`,
			`> {"id":8,"op":"bye"}`, `< {"id":8,"op":"bye"}`, `exit 0`)
	})
	t.Run("profile", func(t *testing.T) {
		t.Parallel()
		const launch = `{"kernel":"steps","queued":"<number 0..>","submit":"<number 0..>","start":"<number 1..>","end":"<number 1..>","global":[64]}`
		play(t, h, hello,
			prepare(`{"n":1000,"launches":2}`, "wall"), `< {"id":2,"op":"prepare","timer":"wall"}`,
			`> {"id":3,"op":"profile","iterations":1,"warmup":2}`,
			`< {"id":3,"op":"profile","iterations":1,"launches":[`+launch+`,`+launch+`]}`,
			`> {"id":4,"op":"measure","samples":3}`, `< {"id":4,"op":"measure","count":3}`,
			// A run that takes no events from pawl.h is seen too.
			prepare(`{"n":10,"no_event":true}`, "device"), `< {"id":2,"op":"prepare","timer":"device"}`,
			`> {"id":5,"op":"profile","iterations":1}`, `< {"id":5,"op":"profile","launches":[`+launch+`]}`)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		play(t, h, hello,
			prepare(`{"n":10,"broken":true}`, "device"), `< {"id":2,"op":"prepare","error":{"code":"failed","message":"<string building kernel steps>"}}`,
			`> {"id":3,"op":"prepare","benchmark":"steps","params":{"n":10,"no_event":true},"timer":"device"}`, `< {"id":3,"op":"prepare","timer":"device"}`,
			`> {"id":4,"op":"measure","samples":1}`, `< {"id":4,"op":"measure","error":{"code":"failed","message":"<string pawl_event>"}}`,
			prepare(`{"n":10}`, "device"), `< {"id":2,"op":"prepare","timer":"device"}`,
			`> {"id":5,"op":"measure","samples":1}`, `< {"id":5,"op":"measure","count":1}`)
	})
	t.Run("arguments", func(t *testing.T) {
		t.Parallel()
		playDeviceArguments(t, h)
	})
	t.Run("no such device", func(t *testing.T) {
		t.Parallel()
		none := harness(h.Command[0], "PAWL_OPENCL_DEVICE=no such device")
		play(t, none, `> {"id":1,"op":"hello","protocol":[1]}`, `< {"id":1,"op":"hello","error":{"code":"no_device","message":"<string no such device>"}}`)
	})
}
