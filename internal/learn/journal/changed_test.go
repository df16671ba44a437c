package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

const kernelC = `// A kernel.
#include <stdint.h>
#define BLOCK_M 64
#define BLOCK_N (2 * BLOCK_M) /* columns */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
namespace fast {
template <typename T, int D = 64>
struct Shape {
  static constexpr int kWarps = 4;
  T values[D];
};
static const char *name = "a // b \" {";
static float table[] = {1, 2, 3};
__device__ __forceinline__ float sum(const float *x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) { s += x[i]; }
  return s;
}
__global__ void __launch_bounds__(256) kernel(const float *a, float *c, int n) {
  constexpr int unroll = 8;
  #pragma unroll
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    c[i] = a[i] * unroll;
  }
}
extern "C" {
int entry(void) { return 0; }
}
} // namespace fast
`

const kernelPy = `"""A module."""
import triton
BLOCK: int = 64  # rows
WARPS = 4
SOURCE = """
__kernel void f(__global float *x) { x[0] = 1; x[1] = 2; x[2] = 3; x[3] = 4; x[4] = 5; }
"""

@triton.jit
def kernel(x, y,
           n):
    """Adds."""
    STAGES = 2
    for i in range(n):
        y[i] = x[i] + 1


class Op:
    def run(self):
        return kernel
print("x")
`

const makefile = `CFLAGS = -O2 -march=native -DTILE=64 # fast
TILE ?= 32
harness: harness.c
	$(CC) $(CFLAGS) -o $@ $<
`

func changes(file, before, after string) []string {
	var list []string
	for _, c := range journal.Changed(
		journal.Snapshot{Files: map[string]journal.Source{file: journal.TextSource(before)}},
		journal.Snapshot{Files: map[string]journal.Source{file: journal.TextSource(after)}}) {
		text := fmt.Sprintf("%s %s", c.What, c.Name)
		if c.Before+c.After != "" {
			text += fmt.Sprintf(" %q to %q", c.Before, c.After)
		}
		if c.Added+c.Gone > 0 {
			text += fmt.Sprintf(" +%d-%d", c.Added, c.Gone)
		}
		list = append(list, text)
	}
	return list
}

func TestChanged(t *testing.T) {
	for _, test := range []struct {
		name, file, text, old, new string
		want                       []string
	}{
		{"nothing", "k.cu", kernelC, "", "", nil},
		{"a comment", "k.cu", kernelC, "// A kernel.", "/* Another\n kernel. */", nil},
		{"white space", "k.cu", kernelC, "{ s += x[i]; }", "\n  {\n    s   +=\tx[i];\n  }\n", nil},
		{"a line that goes on", "k.cu", kernelC, "(2 * BLOCK_M)", "(2 * \\\n  BLOCK_M)", nil},
		{"a macro", "k.cu", kernelC, "BLOCK_M 64", "BLOCK_M 128", []string{`constant BLOCK_M "64" to "128"`}},
		{"a macro of another", "k.cu", kernelC, "(2 * BLOCK_M) /*", "(4 * BLOCK_M) /*", []string{`constant BLOCK_N "( 2 * BLOCK_M )" to "( 4 * BLOCK_M )"`}},
		{"a macro with arguments", "k.cu", kernelC, "((a) < (b)", "((a) <= (b)", []string{"code MIN +1-1"}},
		{"a constexpr in a type", "k.cu", kernelC, "kWarps = 4", "kWarps = 8", []string{`constant kWarps "4" to "8"`}},
		{"a constexpr in a kernel", "k.cu", kernelC, "unroll = 8", "unroll = 16", []string{`constant unroll "8" to "16"`}},
		{"a const of numbers", "k.cu", "const float scale = 1.0f / 8;\n", "8", "4", []string{`constant scale "1.0f/8" to "1.0f/4"`}},
		{"a const of a call is code", "k.cu", "void f() { const float s = g(8); }\n", "g(8)", "g(4)", []string{"code f +1-1"}},
		{"a body", "k.cu", kernelC, "s += x[i];", "s += x[i] * 2;", []string{"code sum +1-1"}},
		{"a pragma", "k.cu", kernelC, "#pragma unroll", "#pragma unroll 4", []string{"code kernel +1-1"}},
		{"launch bounds", "k.cu", kernelC, "(256)", "(128)", []string{"code kernel +1-1"}},
		{"a type", "k.cu", kernelC, "T values[D];", "T values[D + 1];", []string{"code Shape +1-1"}},
		{"an include", "k.cu", kernelC, "stdint.h", "stddef.h", []string{"file k.cu +1-1"}},
		{"a string is no comment", "k.cu", kernelC, `"a // b`, `"a // c`, []string{"file k.cu +1-1"}},
		{"values of a variable", "k.cu", kernelC, "{1, 2, 3}", "{1, 2, 4}", []string{"file k.cu +1-1"}},
		{"inside extern C", "k.cu", kernelC, "return 0;", "return 1;", []string{"code entry +1-1"}},
		{"a new function", "k.cu", kernelC, "extern \"C\" {", "void more() { }\nextern \"C\" {", []string{"code more +1-0"}},
		{"two at once", "k.cu", strings.Replace(kernelC, "BLOCK_M 64", "BLOCK_M 32", 1), "kWarps = 4", "kWarps = 8", []string{`constant kWarps "4" to "8"`}},
		{"a raw string", "k.cpp", "auto s = R\"x(a ) \" // b)x\"; int f() { return 1; }", "return 1", "return 2", []string{"code f +1-1"}},
		{"a number with marks", "k.cpp", "void f(int n) { g(1'000, 'x', 0x1p-3); }", "1'000", "2'000", []string{"code f +1-1"}},
		{"OpenCL", "k.cl", "__kernel void f(__global float *x) { x[get_global_id(0)] = 1; }", "= 1", "= 2", []string{"code f +1-1"}},
		{"a function that returns a struct", "k.c", "struct p f(int x) { return g(x); }", "g(x)", "h(x)", []string{"code f +1-1"}},
		{"in an enum", "k.c", "enum { TILE = 64 };", "64", "128", []string{"code (unnamed) +1-1"}},

		{"python: nothing", "k.py", kernelPy, "", "", nil},
		{"python: a comment", "k.py", kernelPy, "# rows", "# of rows", nil},
		{"python: a docstring", "k.py", kernelPy, "Adds.", "Adds one.", nil},
		{"python: indentation", "k.py", kernelPy, "        y[i] = x[i] + 1", "          y[i] = x[i]+1", nil},
		{"python: a broken line", "k.py", kernelPy, "x, y,\n           n", "x,\n    y, n", nil},
		{"python: a constant", "k.py", kernelPy, "= 64", "= 128", []string{`constant BLOCK "64" to "128"`}},
		{"python: in a function", "k.py", kernelPy, "STAGES = 2", "STAGES = 3", []string{`constant STAGES "2" to "3"`}},
		{"python: a body", "k.py", kernelPy, "+ 1", "+ 2", []string{"code kernel +1-1"}},
		{"python: another level", "k.py", kernelPy, "        y[i] = x[i] + 1", "    y[i] = x[i] + 1", []string{"code kernel +1-1"}},
		{"python: a decorator", "k.py", kernelPy, "@triton.jit", "@triton.autotune", []string{"code kernel +1-1"}},
		{"python: a class", "k.py", kernelPy, "return kernel", "return None", []string{"code Op +1-1"}},
		{"python: the text of a kernel", "k.py", kernelPy, "x[4] = 5", "x[4] = 6", []string{"code SOURCE +1-1"}},
		{"python: the rest", "k.py", kernelPy, `print("x")`, `print("y")`, []string{"file k.py +1-1"}},

		{"make: a comment", "Makefile", makefile, "# fast", "# slow", nil},
		{"make: a flag", "Makefile", makefile, "-O2", "-O3", []string{`flag CFLAGS -O "-O2" to "-O3"`}},
		{"make: a definition", "Makefile", makefile, "-DTILE=64", "-DTILE=32", []string{`flag CFLAGS -DTILE "-DTILE=64" to "-DTILE=32"`}},
		{"make: a flag more", "Makefile", makefile, "-O2", "-O2 -ffast-math", []string{`flag CFLAGS -ffast-math "" to "-ffast-math"`}},
		{"make: a number", "Makefile", makefile, "TILE ?= 32", "TILE ?= 16", []string{`constant TILE "32" to "16"`}},
		{"make: a rule", "Makefile", makefile, "-o $@ $<", "-o $@ $^", []string{"file Makefile +1-1"}},
		{"any text", "notes.txt", "a b\n", "b", "c", []string{"file notes.txt +1-1"}},
	} {
		after := test.text
		if test.old != "" {
			if !strings.Contains(test.text, test.old) {
				t.Fatalf("%s: %q is not there", test.name, test.old)
			}
			after = strings.Replace(test.text, test.old, test.new, 1)
		}
		if diff := cmp.Diff(test.want, changes(test.file, test.text, after)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestChangedSettings(t *testing.T) {
	before := journal.Snapshot{Parameters: map[string]string{"BLOCK_M": "64", "WARPS": "4"}, Flags: map[string]string{"flags": "-O2 -lineinfo"}}
	after := journal.Snapshot{Parameters: map[string]string{"BLOCK_M": "128", "WARPS": "4"}, Flags: map[string]string{"flags": "-O3 -lineinfo"}}
	want := []journal.Change{
		{What: journal.Parameter, Name: "BLOCK_M", Before: "64", After: "128"},
		{What: journal.Flag, Name: "flags -O", Before: "-O2", After: "-O3"},
	}
	if diff := cmp.Diff(want, journal.Changed(before, after)); diff != "" {
		t.Error(diff)
	}
	if before.Digest() == after.Digest() || before.Digest() == "" {
		t.Error("their digests do not tell them apart")
	}
}

// Comments and blanks put anywhere between words change nothing.
func TestCommentsAnywhere(t *testing.T) {
	words := strings.Fields(`int f ( int a ) { return a + 1 ; } struct S { int x ; } ; float t [ ] = { 1 , 2 } ; void g ( ) { f ( 2 ) ; }`)
	plain := strings.Join(words, " ")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, w := range words {
			b.WriteString(rapid.SampledFrom([]string{" ", "\n", "\t", " /* { */ ", " // }\n", "\\\n "}).Draw(t, "between"))
			b.WriteString(w)
		}
		if got := changes("k.c", plain, b.String()); got != nil {
			t.Fatalf("%q\n%q", got, b.String())
		}
	})
}

func FuzzChanged(f *testing.F) {
	f.Add("k.cu", kernelC, strings.Replace(kernelC, "{", "", 1))
	f.Add("k.py", kernelPy, strings.Replace(kernelPy, `"""`, "", 1))
	f.Add("Makefile", makefile, "")
	f.Add("k.c", "#define", `R"(`)
	f.Add("k.c", "'", "1'")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		if got := changes(name, a, a); got != nil {
			t.Fatalf("a file against itself: %q", got)
		}
		there, back := changes(name, a, b), changes(name, b, a)
		if len(there) != len(back) {
			t.Fatalf("%d changes there, %d back", len(there), len(back))
		}
	})
}

func TestTakeAndKeep(t *testing.T) {
	top := t.TempDir()
	f := journal.Folder{Root: top}
	w := start(t, f)
	write := func(name, text string, age time.Duration) {
		t.Helper()
		path := filepath.Join(top, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{"k.c", "b.bin", "gone.c"}
	write("k.c", "#define N 1\n", time.Hour)
	write("b.bin", "\x00\x01", time.Hour)
	if _, ok := w.Kept(); ok {
		t.Fatal("there is a measurement before the first")
	}
	take := func() journal.Snapshot {
		t.Helper()
		known, _ := w.Kept()
		s, err := journal.Take(top, paths, known, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := take()
	if err := w.Keep(first); err != nil {
		t.Fatal(err)
	}
	again := take()
	if again.Digest() != first.Digest() || again.Files["k.c"].Text != "" {
		t.Errorf("a file that did not change was read again, or is another: %+v", again)
	}
	write("k.c", "#define N 2\n", 0) // the same size
	write("b.bin", "\x00\x02", 0)
	write("gone.c", "int x;\n", 0)
	now := take()
	kept, _ := w.Kept()
	var got []string
	for _, c := range w.Changes(kept, now) {
		got = append(got, fmt.Sprint(c.What, " ", c.Name, " ", c.Before, " ", c.After))
	}
	if diff := cmp.Diff([]string{"file b.bin  ", "file gone.c  ", "constant N 1 2"}, got); diff != "" {
		t.Error(diff)
	}
	if err := w.Keep(now); err != nil {
		t.Fatal(err)
	}
	if err := w.End(journal.Ended{Outcome: journal.Nothing}, me); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(top, ".pawl/sessions/open/2*")); left != nil {
		t.Errorf("copies that nobody needs any more: %q", left)
	}
}
