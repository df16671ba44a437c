package codeid_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/codediff"
)

// built compiles a text with a real compiler and identifies what came out.
func built(t *testing.T, out, source, text string, command ...string) []measure.CodeDigest {
	t.Helper()
	path := testrun.Compile(t, out, source, text, command...)
	code, err := codeid.Of(t.Context(), []string{path, filepath.Join(filepath.Dir(path), source)})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

const kernels = `template <int N> __global__ void scale(float *p) { p[blockIdx.x * N + threadIdx.x] *= N; }
template __global__ void scale<64>(float *);
__global__ void shift(float *p) { p[threadIdx.x] += 1; }
extern "C" __global__ void fill(float *p, float v) { p[threadIdx.x] = v; }
`

func TestKernels(t *testing.T) {
	nvcc := []string{"nvcc", "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_89,code=[sm_89,compute_89]", "-c"}
	before := deviceOnly(built(t, "k.o", "k.cu", kernels, nvcc...))
	if want := []string{"fill sm_80", "fill sm_89", "scale<64> sm_80", "scale<64> sm_89", "shift sm_80", "shift sm_89"}; !cmp.Equal(want, names(before)) {
		t.Fatal(names(before))
	}
	for name, c := range map[string]struct {
		text    string
		flags   []string
		want    codediff.Changes
		reading string
	}{
		"a comment": {
			text:    "// why\n\n" + kernels,
			want:    codediff.Changes{Same: []string{"fill", "scale<64>", "shift"}},
			reading: "no function changed: all 3 have identical machine code",
		},
		"line information": {
			text: kernels, flags: []string{"-lineinfo"},
			want:    codediff.Changes{Same: []string{"fill", "scale<64>", "shift"}},
			reading: "no function changed: all 3 have identical machine code",
		},
		"one kernel": {
			text:    strings.Replace(kernels, "+= 1;", "+= 2;", 1),
			want:    codediff.Changes{Same: []string{"fill", "scale<64>"}, Changed: []string{"shift"}},
			reading: "only shift changed; 2 others have identical machine code",
		},
		"another instantiation": {
			text:    strings.Replace(kernels, "scale<64>", "scale<32>", 1),
			want:    codediff.Changes{Same: []string{"fill", "shift"}, New: []string{"scale<32>"}, Removed: []string{"scale<64>"}},
			reading: "only scale<32> is new; scale<64> is gone; 2 others have identical machine code",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := codediff.Compare(before, deviceOnly(built(t, "k.o", "k.cu", c.text, slices.Concat(nvcc, c.flags)...)))
			if diff := cmp.Diff(c.want, got); diff != "" || got.String() != c.reading {
				t.Errorf("%s\n%s", got, diff)
			}
		})
	}
}

// A constant in memory is not in the code of the kernel that reads it.
func TestSharedData(t *testing.T) {
	text := "__constant__ float w[2] = {1, 2};\nextern \"C\" __global__ void k(float *p) { p[threadIdx.x] = w[threadIdx.x & 1]; }\n"
	before := built(t, "k.cubin", "k.cu", text, "nvcc", "-arch=sm_89", "-cubin")
	after := built(t, "k.cubin", "k.cu", strings.Replace(text, "{1, 2}", "{1, 3}", 1), "nvcc", "-arch=sm_89", "-cubin")
	if diff := cmp.Diff(codediff.Changes{Same: []string{"k"}, Changed: []string{codeid.Data}}, codediff.Compare(before, after)); diff != "" {
		t.Error(diff)
	}
}

const program = `#include <math.h>
#include <stdio.h>
__attribute__((noinline)) static float first(const float *a, int n) { float s = 0.5f; for (int i = 0; i < n; i++) s += a[i] * a[i]; return s; }
__attribute__((noinline)) float second(const float *a, int n) { return sinf(first(a, n)) * 1.25f; }
__attribute__((noinline)) int third(int x) { return x * 7 + 3; }
int main(void) { float a[4] = {1, 2, 3, 4}; printf("%f %d\n", second(a, 4), third(5)); return 0; }
`

// Of a linked program everything moves when one function grows, and only that one
// has changed.
func TestHostFunctions(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump here")
	}
	for out, flags := range map[string][]string{
		"program": {"gcc", "-O2", "-Wl,--no-as-needed", "-lm"},
		"p.so":    {"gcc", "-O3", "-shared", "-fPIC"},
		"p.o":     {"gcc", "-O2", "-c"},
	} {
		t.Run(out, func(t *testing.T) {
			before := built(t, out, "p.c", program, flags...)
			comment := codediff.Compare(before, built(t, out, "p.c", "// why\n\n"+program, append(flags, "-g")...))
			if comment.Any() || len(comment.Same) < 5 {
				t.Errorf("a comment and -g: %+v", comment)
			}
			grown := strings.Replace(program, "s += a[i] * a[i];", "s += a[i] * a[i] / (1 + a[i]) + a[i] / (3 + a[i]);", 1)
			if got := codediff.Compare(before, built(t, out, "p.c", grown, flags...)); !cmp.Equal([]string{"first"}, without(got.Changed, codeid.Data)) || len(got.New)+len(got.Removed) > 0 {
				t.Errorf("one function grew: %+v", got)
			}
		})
	}
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

func deviceOnly(code []measure.CodeDigest) []measure.CodeDigest {
	return slices.DeleteFunc(code, func(c measure.CodeDigest) bool { return !strings.HasPrefix(c.Arch, "sm_") })
}

func names(code []measure.CodeDigest) []string {
	var list []string
	for _, c := range code {
		list = append(list, c.Kernel+" "+c.Arch)
	}
	return list
}

func TestChangesAreSaid(t *testing.T) {
	many := []string{"a", "b", "c", "d", "e", "f"}
	for want, c := range map[string]codediff.Changes{
		"":                              {},
		"a, b, c, d and 2 more changed": {Changed: many},
		"only k changed; 1 other has identical machine code":  {Changed: []string{"k"}, Same: []string{"o"}},
		"only k is new; 6 others have identical machine code": {New: []string{"k"}, Same: many},
		"b, c, literal constants, pawl_a and 2 more changed; 1 other has identical machine code": {
			Changed: []string{"(data)", "b", "c", "pawl_a", "pawli_b", "pawli_c"}, Same: []string{"o"},
		},
		"only k, l are gone; 1 other has identical machine code":       {Removed: []string{"k", "l"}, Same: []string{"o"}},
		"no function changed: all 6 have identical machine code":       {Same: many},
		"only a changed; b is new; 1 other has identical machine code": {Changed: []string{"a"}, New: []string{"b"}, Same: []string{"o"}},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzReadDisassembly(f *testing.F) {
	f.Add("p:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n\n0000000000001190 <third>:\n    1190:\tlea    0x0(,%rdi,8),%eax\n    1197:\tcall   1030 <sinf@plt>\n    119c:\tmovss  0xe35(%rip),%xmm0        # 2010 <_IO_stdin_used+0xc>\n\t\t\t11: R_X86_64_PLT32\tsinf-0x4\n    119f:\tret\n    11a0:\tnopw   0x0(%rax,%rax,1)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, fn := range codeid.ReadDisassembly(text) {
			if fn.Name == "" || !strings.HasPrefix(fn.Digest, "sha256:") {
				t.Errorf("%+v", fn)
			}
		}
	})
}
