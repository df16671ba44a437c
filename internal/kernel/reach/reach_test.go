package reach_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/reach"
)

// compiled compiles a text, where objdump can read what comes out.
func compiled(t *testing.T, out, source, text string, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump here")
	}
	return testrun.Compile(t, out, source, text, command...)
}

// shared compiles a shared object.
func shared(t *testing.T, text string, flags ...string) string {
	t.Helper()
	return compiled(t, "k.so", "k.c", text, slices.Concat([]string{"gcc", "-O2", "-falign-functions=4096", "-shared", "-fPIC"}, flags)...)
}

// digests returns the digest of each kernel, or why there is none, after "unknown: ".
func digests(t *testing.T, path string, kernels ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	f, err := reach.Open(t.Context(), path)
	for _, k := range kernels {
		if err != nil {
			all[k] = "unknown: " + err.Error()
			continue
		}
		code, why := f.Kernel(k)
		if why != nil {
			code = "unknown: " + why.Error()
		}
		all[k] = code
	}
	return all
}

const kernels = `#include <math.h>
#include <string.h>
static const float weights[64] = {1, 2, 3};
static int table[4] = {1, 2, 3, 4};
__attribute__((noinline)) static float helper(float x) { return x * 3 + 1; }
__attribute__((noinline)) static float deep(float x) { return helper(x) * helper(x + 1); }
void first(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = deep(x[i]); }
void second(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] * 2; }
void third(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = expf(x[i]) + weights[i & 63]; }
void fourth(float *y, int n) { for (int i = 0; i < n; i++) y[i] = table[i & 3]; memset(y, 0, 4); }
`

// What a change can reach counts as changed, and the rest does not. A kernel that is not known is measured.
func TestKernel(t *testing.T) {
	const same, other, unknown = "same", "other", "unknown"
	for name, tt := range map[string]struct {
		old, now string // replaced in the source
		more     string // appended to the source
		flags    []string
		want     [4]string // first to fourth
	}{
		"nothing":                  {want: [4]string{same, same, same, same}},
		"a comment and -g":         {old: "static int table", now: "/* why */\nstatic int table", flags: []string{"-g"}, want: [4]string{same, same, same, same}},
		"the kernel":               {old: "x[i] * 2", now: "x[i] * x[i] * 2", want: [4]string{same, other, same, same}},
		"a function that it calls": {old: "x * 3 + 1", now: "(x * 3 + 1) * x", want: [4]string{other, same, same, same}},
		"a name":                   {old: "deep", now: "deeper", want: [4]string{same, same, same, same}},
		"a literal":                {old: "x * 3 + 1", now: "x * 3 + 7", want: [4]string{other, other, other, other}},
		"a constant table":         {old: "{1, 2, 3}", now: "{1, 2, 4}", want: [4]string{other, other, other, other}},
		"a variable":               {old: "{1, 2, 3, 4}", now: "{1, 2, 3, 5}", want: [4]string{other, other, other, other}},
		"a constructor":            {more: "static float sum; __attribute__((constructor)) static void start(void) { sum += table[0]; table[1] = 9; }", want: [4]string{other, other, other, other}},
		"a constructor that reads a variable of the environment": {
			more: "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { if (getenv(\"X\")) table[1] = 9; }", want: [4]string{unknown, unknown, unknown, unknown},
		},
		"a kernel that reads a file": {
			old: "x[i] * 2", now: "x[i] * 2 + fgetc(file)", flags: []string{"-include", "stdio.h", "-Dfile=stdin"}, want: [4]string{other, unknown, other, other}, // the file now needs a library
		},
		"a kernel that calls the system": {old: "y[i] = x[i] * 2", now: "{ long r = 39; __asm__ volatile(\"syscall\" : \"+a\"(r) :: \"rcx\", \"r11\"); y[i] = r; }", want: [4]string{same, unknown, same, same}},
		"a kernel that jumps by a table": {
			old: "y[i] = x[i] * 2", now: "switch (i % 7) { case 0: y[i] = x[i]; break; case 1: y[i] = x[i] / 3; break; case 2: y[i] += 1; break; case 3: y[i] -= x[i]; break; case 4: y[i] = 0; break; case 5: y[i] *= x[i]; break; default: y[i] = 9; }",
			flags: []string{"-fno-tree-switch-conversion"}, want: [4]string{other, unknown, other, other}, // the table is data
		},
		"a kernel that jumps into an instruction": {
			old: "y[i] = x[i] * 2", now: "{ __asm__ volatile(\".byte 0xeb, 0xff, 0xc0\" ::: \"eax\"); y[i] = x[i] * 2; }", want: [4]string{same, unknown, same, same},
		},
		"a function chosen when it is loaded": {
			more: "static float a(float x) { return x; }\nstatic void *pick(void) { return a; }\nfloat chosen(float) __attribute__((ifunc(\"pick\")));\nfloat fifth(float x) { return chosen(x); }",
			want: [4]string{"", same, same, same}, // the compiler may put the new functions between the first and what it calls
		},
		"a table of functions": {
			more: "static float a(float x) { return x + 7; }\nfloat (*jumps[1])(float) = {a};", want: [4]string{other, other, other, other},
		},
		"a variable of the thread": {more: "__thread int local;", want: [4]string{unknown, unknown, unknown, unknown}},
		"a search path":            {flags: []string{"-Wl,-rpath,$ORIGIN"}, want: [4]string{unknown, unknown, unknown, unknown}},
		"other flags":              {flags: []string{"-O1"}, want: [4]string{other, other, other, other}},
		"another kernel":           {more: "void added(float *y) { y[0] = y[1] * y[2]; }", want: [4]string{same, same, same, same}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := []string{"first", "second", "third", "fourth"}
			before := digests(t, shared(t, kernels), names...)
			text := kernels
			if tt.old != "" {
				text = strings.ReplaceAll(kernels, tt.old, tt.now)
			}
			after := digests(t, shared(t, text+tt.more+"\n", tt.flags...), names...)
			for i, k := range names {
				got := other
				switch {
				case strings.HasPrefix(after[k], "unknown"):
					got = unknown
				case before[k] == after[k]:
					got = same
				}
				if strings.HasPrefix(before[k], "unknown") {
					t.Errorf("the base: %s", before[k])
				}
				if got != tt.want[i] && tt.want[i] != "" {
					t.Errorf("%s is %s, want %s: %s", k, got, tt.want[i], after[k])
				}
			}
		})
	}
}

// A kernel that moved to another place in a cache line can be slower with the same instructions.
func TestKernel_Position(t *testing.T) {
	const two = "%s\nvoid last(float *y, int n) { for (int i = 0; i < n; i++) y[i] += 1; }\n"
	build := func(first string) string {
		return digests(t, compiled(t, "k.so", "k.c", strings.Replace(two, "%s", first, 1), "gcc", "-O2", "-fno-toplevel-reorder", "-falign-functions=16", "-shared", "-fPIC"), "last")["last"]
	}
	positions := map[string]bool{}
	for _, first := range []string{"x", "x / 7", "x / 7 + x / 9", "x / 7 + x / 9 + x / 11"} {
		positions[build("int f(int x) { return "+first+"; }")] = true
	}
	if len(positions) < 2 {
		t.Error("a kernel that moves within its cache line is taken for the same")
	}
}

// A library of the change's own may be another one.
func TestKernel_OwnLibrary(t *testing.T) {
	library := compiled(t, "libhelp.so", "help.c", "float help(float x) { return x; }\n", "gcc", "-shared", "-fPIC")
	object := shared(t, "float help(float); float k(float x) { return help(x); }\n", "-L"+filepath.Dir(library), "-Wl,--no-as-needed", "-lhelp")
	if got := digests(t, object, "k")["k"]; !strings.Contains(got, "libhelp.so") || !strings.HasPrefix(got, "unknown") {
		t.Error(got)
	}
}

// Tools read sections, and the loader does not: a file in which they differ could show one kernel and run another.
func TestKernel_FalseSections(t *testing.T) {
	path := shared(t, kernels)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const headerSize, addressAt, offsetAt = 64, 16, 24
	for i, s := range f.Sections {
		if s.Name != ".text" && s.Name != ".dynsym" && s.Name != ".rela.dyn" && s.Name != ".init_array" && s.Name != ".dynamic" {
			continue
		}
		for _, field := range []int{addressAt, offsetAt} {
			changed := slices.Clone(data)
			at := int(binary.LittleEndian.Uint64(data[40:])) + i*headerSize + field
			binary.LittleEndian.PutUint64(changed[at:], binary.LittleEndian.Uint64(changed[at:])+16)
			other := filepath.Join(t.TempDir(), "k.so")
			if err := os.WriteFile(other, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			if got := digests(t, other, "second")["second"]; !strings.HasPrefix(got, "unknown") {
				t.Errorf("%s is moved, and the kernel is taken for known", s.Name)
			}
		}
	}
}

// objdump prints names, and its lines are parsed: a name must not end a line.
func TestKernel_FalseNames(t *testing.T) {
	data, err := os.ReadFile(shared(t, kernels))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"second", "helper", ".eh_frame_hdr"} { // dynamic, static, section
		changed := bytes.ReplaceAll(data, []byte(name), append([]byte(name[:3]+"\n"), name[4:]...))
		path := filepath.Join(t.TempDir(), "k.so")
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := digests(t, path, "first")["first"]; !strings.HasPrefix(got, "unknown") {
			t.Errorf("%s has a line break, and the file is taken for known", name)
		}
	}
}

func TestOpen_RefusesOtherFiles(t *testing.T) {
	program := compiled(t, "p", "p.c", "int main(void) { return 0; }\n", "gcc")
	text := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(text, []byte(".version 8.0"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Dir(text), filepath.Join(t.TempDir(), "none.so")} {
		if _, err := reach.Open(t.Context(), path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
	if got := digests(t, program, "main")["main"]; !strings.HasPrefix(got, "unknown") {
		t.Error("the main function of a program is taken for a kernel")
	}
}

const device = `__constant__ float w[4] = {1, 2, 3, 4};
__device__ __noinline__ float helper(float x) { return x * x + 1; }
extern "C" __global__ void first(float *p) { p[threadIdx.x] = helper(p[threadIdx.x]); }
extern "C" __global__ void second(float *p) { p[threadIdx.x] += w[threadIdx.x & 3]; }
extern "C" __global__ void third(float *p) { __shared__ float s[64]; s[threadIdx.x & 63] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[0]; }
`

func TestCubin(t *testing.T) {
	names := []string{"first", "second", "third"}
	build := func(text string, flags ...string) map[string]string {
		return digests(t, compiled(t, "k.cubin", "k.cu", text, slices.Concat([]string{"nvcc", "-arch=sm_80", "-cubin"}, flags)...), names...)
	}
	before := build(device)
	for name, tt := range map[string]struct {
		old, now string
		flags    []string
		want     [3]bool // which are the same
	}{
		"a comment":          {"__constant__", "/* why */ __constant__", nil, [3]bool{true, true, true}},
		"one kernel":         {"+= w", "-= w", nil, [3]bool{true, false, true}},
		"a constant":         {"{1, 2, 3, 4}", "{1, 2, 3, 5}", nil, [3]bool{}},
		"a function":         {"x * x + 1", "x * x + x", nil, [3]bool{false, true, true}}, // it is in the section of its caller
		"shared memory":      {"s[64]", "s[128]", nil, [3]bool{true, true, false}},
		"limits of a launch": {"void second", "void __launch_bounds__(64) second", nil, [3]bool{true, false, true}},
		"another arch":       {"", "", []string{"-arch=sm_86"}, [3]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			after := build(strings.Replace(device, tt.old, tt.now, 1), tt.flags...)
			for i, k := range names {
				if strings.HasPrefix(after[k], "unknown") || (after[k] == before[k]) != tt.want[i] {
					t.Errorf("%s: same is %v, want %v: %s", k, after[k] == before[k], tt.want[i], after[k])
				}
			}
		})
	}
	if got := digests(t, compiled(t, "k.cubin", "k.cu", device, "nvcc", "-arch=sm_80", "-cubin"), "none")["none"]; !strings.HasPrefix(got, "unknown") {
		t.Error("a kernel that does not exist is known")
	}
}
