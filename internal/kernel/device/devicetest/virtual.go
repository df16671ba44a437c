//go:build unix

package devicetest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Virtual is a machine with a virtual GPU (sdk/virtualgpu) behind CUDA and NVML.
type Virtual struct {
	dir, nvml string
}

// UseVirtual builds the virtual GPU and makes it visible to this process and its children until the test ends, with
// these settings (VGPU_CARD=L4). Every call makes a new card: clocks, heat and energy start anew.
func UseVirtual(tb testing.TB, settings ...string) Virtual {
	tb.Helper()
	v := Virtual{dir: tb.TempDir()}
	built := buildVirtual(tb)
	// A copy is a library of its own, with its own state in this process.
	v.nvml = filepath.Join(v.dir, "libnvidia-ml.so.1")
	text, err := os.ReadFile(filepath.Join(built, "libnvidia-ml.so.1"))
	if err == nil {
		err = os.WriteFile(v.nvml, text, 0o700)
	}
	if err != nil {
		tb.Fatalf("cannot copy the virtual GPU: %v", err)
	}
	tb.Setenv(libraryVar, v.nvml)
	tb.Setenv("VGPU_STATE", filepath.Join(v.dir, "state"))
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		tb.Setenv(name, value)
	}
	v.dir = built
	return v
}

// VirtualEnv returns the variable with which a child process sees a virtual GPU through NVML. It is another card than the one
// on which programs of sdk/virtualgpu/nvcc compute: always idle, and without processes.
func VirtualEnv(tb testing.TB) string {
	tb.Helper()
	return libraryVar + "=" + filepath.Join(buildVirtual(tb), "libnvidia-ml.so.1")
}

// Env returns the variables that put the virtual GPU in the place of the CUDA driver of a child process.
func (v Virtual) Env() []string {
	return []string{"LD_LIBRARY_PATH=" + v.dir, "LD_PRELOAD=" + filepath.Join(v.dir, "libcuda.so.1")}
}

// buildVirtual compiles the libraries, once for all test processes of this user.
func buildVirtual(tb testing.TB) string {
	tb.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		tb.Skipf("no C compiler (%v): the virtual GPU cannot be built", err)
	}
	model := filepath.Join(moduleRoot(tb), "sdk", "virtualgpu")
	sum := sha256.New()
	for _, name := range []string{"model.h", "model.c", "cache.h", "blocks.h", "driver.c", "nvml.c"} {
		text, err := os.ReadFile(filepath.Join(model, name))
		if err != nil {
			tb.Fatal(err)
		}
		sum.Write(text)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("pawl-virtualgpu-%d-%.6x", os.Getuid(), sum.Sum(nil)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	for library, front := range map[string]string{"libcuda.so.1": "driver.c", "libnvidia-ml.so.1": "nvml.c"} {
		to := filepath.Join(dir, library)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		output := filepath.Join(tb.TempDir(), library)
		args := []string{
			"-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I" + model, "-o", output,
			filepath.Join(model, front), filepath.Join(model, "model.c"), "-lm", "-ldl",
		}
		if out, err := exec.CommandContext(tb.Context(), "cc", args...).CombinedOutput(); err != nil {
			tb.Fatalf("cannot build the virtual GPU: %v\n%s", err, out)
		}
		if err := os.Rename(output, to); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// moduleRoot returns the folder of go.mod.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	tb.Fatalf("cannot find go.mod above the test: %v", err)
	return ""
}
