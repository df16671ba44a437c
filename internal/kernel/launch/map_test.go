package launch_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// mappedArguments are those of a kernel that takes x, with gaps between its rows, and out as tensor maps.
// The last is the swizzle as the driver numbers it.
func mappedArguments(swizzle int) []tensor.Argument {
	x, y := in("x", tensor.F32, 10, 24), out("out", tensor.F32, 10, 24)
	x.Strides = []int{28, 1}
	x.Map = &tensor.Map{Box: []int{4, 8}, Swizzle: swizzle}
	y.Map = &tensor.Map{Box: []int{10, 24}}
	return []tensor.Argument{x, y, value("n", tensor.I32, map[int]float64{0: 0, 32: 1, 64: 2, 128: 3}[swizzle])}
}

func TestCUDATensorMap_ReachesTheKernel(t *testing.T) {
	v := virtualGPU(t, "VGPU_CARD=H100")
	for _, swizzle := range []int{0, 32, 64, 128} {
		if _, err := v.prepare(t, "mapped", 128, 0, measure.Hot, mappedArguments(swizzle)); err != nil {
			t.Fatal(err)
		}
		mustScale(t, v.Session, fmt.Sprintf("swizzle %d", swizzle))
	}
	if err := v.Run(t.Context(), harness.Run{Iterations: 100}); err != nil {
		t.Error(err)
	}
}

// What the documentation of cuTensorMapEncodeTiled forbids is refused by the driver, before anything is measured.
func TestCUDATensorMap_ThatTheDriverRefuses(t *testing.T) {
	const refused = "making the tensor map of x (its box, swizzle, sizes and strides): invalid argument (CUDA_ERROR_INVALID_VALUE)"
	v := virtualGPU(t, "VGPU_CARD=H100")
	for _, c := range []struct {
		name, code, says string
		change           func(x *tensor.Argument)
	}{
		{"a large box", "failed", refused, func(x *tensor.Argument) { x.Map.Box = []int{257, 8} }},
		{"rows of 12 bytes", "failed", refused, func(x *tensor.Argument) { x.Map.Box = []int{4, 3} }},
		{"rows above the swizzle", "failed", refused, func(x *tensor.Argument) { x.Map.Box = []int{4, 16} }},
		{"a stride of 100 bytes", "failed", refused, func(x *tensor.Argument) { x.Strides = []int{25, 1} }},
		{"six dimensions", "bad_params", "x has 6 dimensions, and a tensor map at most 5", func(x *tensor.Argument) {
			x.Shape, x.Strides, x.Map.Box = []int{1, 1, 1, 1, 10, 24}, nil, []int{1, 1, 1, 1, 4, 8}
		}},
		{"another rank", "bad_params", "x: map.box has not 2 sizes", func(x *tensor.Argument) { x.Map.Box = []int{8} }},
		{"another swizzle", "bad_params", "x: map.swizzle is 0, 32, 64 or 128", func(x *tensor.Argument) { x.Map.Swizzle = 16 }},
	} {
		arguments := mappedArguments(32)
		c.change(&arguments[0])
		_, err := v.prepare(t, "mapped", 128, 0, measure.Hot, arguments)
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Refused || e.Code != c.code || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%s: got %v, want %s and %q", c.name, err, c.code, c.says)
		}
	}
}

func TestCUDATensorMap_NeedsADriverAndADevice(t *testing.T) {
	need(t, "cc")
	old := filepath.Join(t.TempDir(), "libcuda.so.1")
	text, err := exec.CommandContext(t.Context(), "cc", "-std=gnu11", "-shared", "-fPIC", "-O2", "-DVGPU_BEFORE_MAPS", "-I"+virtualModel, "-o", old,
		virtualModel+"/driver.c", virtualModel+"/model.c", "-lm", "-ldl").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for says, env := range map[string][]string{
		"x is a tensor map, which needs a driver of CUDA 12.0 or newer":              {"VGPU_CARD=H100", "LD_PRELOAD=" + old, "LD_LIBRARY_PATH=" + filepath.Dir(old)},
		"x is a tensor map, which needs a device of compute capability 9.0 or newer": {"VGPU_CARD=L4"},
	} {
		v := virtualGPU(t, env...)
		_, err := v.prepare(t, "mapped", 128, 0, measure.Hot, mappedArguments(0))
		if e, ok := errors.AsType[*harness.Error](err); !ok || e.Code != "unsupported" || !strings.Contains(e.Detail, says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
