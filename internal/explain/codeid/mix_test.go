package codeid_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/measure"
)

const loops = `void axpy(float *restrict y, const float *restrict x, float k, int n) { for (int i = 0; i < n; i++) y[i] += k * x[i]; }
int rest(int *a, int n) { int s = 1; for (int i = 0; i < n; i++) s += 1000 / a[i]; return s; }
`

// The same loop compiled for four widths: what the compiler made of it is seen.
func TestMixesOfHostLoops(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump here")
	}
	for name, c := range map[string]struct {
		flags []string
		want  []measure.MixCount // of axpy, in loops
	}{
		"scalar": {[]string{"-O2", "-fno-tree-vectorize", "-march=x86-64"}, []measure.MixCount{{Class: "scalar float", Bytes: 4}, {Class: "load", Bytes: 4}, {Class: "store", Bytes: 4}}},
		"sse":    {[]string{"-O3", "-march=x86-64"}, []measure.MixCount{{Class: "vector", Bytes: 16}, {Class: "load", Bytes: 16}, {Class: "store", Bytes: 16}}},
		"avx2":   {[]string{"-O3", "-march=x86-64-v3"}, []measure.MixCount{{Class: "fma", Bytes: 32}, {Class: "load", Bytes: 32}, {Class: "store", Bytes: 32}}},
		"avx512": {[]string{"-O3", "-march=skylake-avx512", "-mprefer-vector-width=512"}, []measure.MixCount{{Class: "fma", Bytes: 64}, {Class: "load", Bytes: 64}, {Class: "store", Bytes: 64}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source, object := filepath.Join(dir, "l.c"), filepath.Join(dir, "l.o")
			if err := os.WriteFile(source, []byte(loops), 0o644); err != nil {
				t.Fatal(err)
			}
			gcc, err := exec.LookPath("gcc")
			if err != nil {
				t.Skip("there is no gcc here")
			}
			if log, err := exec.CommandContext(t.Context(), gcc, append(c.flags, "-c", source, "-o", object)...).CombinedOutput(); err != nil {
				t.Skipf("gcc does not compile for %v: %s", c.flags, log)
			}
			list, err := codeid.Mixes(t.Context(), []string{object, source}, []string{"axpy"})
			if err != nil || len(list) != 1 || list[0].Mix == nil || list[0].Arch != "x86-64" {
				t.Fatalf("%+v %v", list, err)
			}
			for _, want := range c.want {
				found := false
				for _, got := range list[0].Mix.Counts {
					found = found || got.Class == want.Class && got.Bytes == want.Bytes && got.InLoops > 0
				}
				if !found {
					t.Errorf("no %+v in the loops of %+v", want, *list[0].Mix)
				}
			}
			all, err := codeid.Mixes(t.Context(), []string{object}, nil)
			if err != nil || len(all) != 2 {
				t.Errorf("%+v %v", all, err)
			}
		})
	}
}

func TestClasses(t *testing.T) {
	arm := "k.o:     file format elf64-littleaarch64\n"
	for code, want := range map[string]measure.MixCount{
		"vmovups (%rdi,%rax,1),%ymm4":          {Class: "load", Bytes: 32},
		"vmovaps %zmm1,0x40(%rdi)":             {Class: "store", Bytes: 64},
		"movss  (%rdi,%rax,1),%xmm0":           {Class: "load", Bytes: 4},
		"vbroadcastss 0x4(%rax),%ymm3":         {Class: "load", Bytes: 32},
		"movzbl (%rdi),%eax":                   {Class: "load", Bytes: 1},
		"mov    0x8(%rsp),%r12d":               {Class: "load", Bytes: 4},
		"mov    %rax,0x8(%rsp)":                {Class: "store", Bytes: 8},
		"movl   $0x0,(%rdi)":                   {Class: "store", Bytes: 4},
		"mov    %rsi,%rcx":                     {Class: "integer"},
		"movaps %xmm1,%xmm0":                   {Class: "integer"},
		"lea    0x0(,%r8,4),%rsi":              {Class: "integer"},
		"vfmadd231ps (%rcx,%r8,4),%ymm6,%ymm0": {Class: "fma", Bytes: 32},
		"vfmadd231ss (%rcx,%r8,4),%xmm6,%xmm0": {Class: "fma", Bytes: 4},
		"vmulps (%rcx,%rax,1),%ymm4,%ymm1":     {Class: "vector", Bytes: 32},
		"vpaddd %ymm0,%ymm1,%ymm2":             {Class: "vector", Bytes: 32},
		"addss  %xmm0,%xmm1":                   {Class: "scalar float", Bytes: 4},
		"mulsd  0x8(%rdi),%xmm1":               {Class: "scalar float", Bytes: 8},
		"vxorps %xmm0,%xmm0,%xmm0":             {Class: "integer"},
		"idivl  (%rdi)":                        {Class: "divide"},
		"vdivps %ymm0,%ymm1,%ymm2":             {Class: "divide", Bytes: 32},
		"cvtsi2ss %eax,%xmm0":                  {Class: "conversion"},
		"call   1030 <sinf@plt>":               {Class: "call"},
		"ret":                                  {Class: "branch"},
		"jmp    97 <k+0x97>":                   {Class: "branch"},
		"push   %rbx":                          {Class: "store", Bytes: 8},
		"rep stos %al,%es:(%rdi)":              {Class: "other"},
		"vzeroupper":                           {Class: "other"},
		arm + "ldr\tq0, [x1, #16]":             {Class: "load", Bytes: 16},
		arm + "ldp\tq0, q1, [x1]":              {Class: "load", Bytes: 32},
		arm + "ldrb\tw0, [x1]":                 {Class: "load", Bytes: 1},
		arm + "str\ts0, [x1], #4":              {Class: "store", Bytes: 4},
		arm + "ld1\t{v0.4s}, [x1]":             {Class: "load", Bytes: 16},
		arm + "fmla\tv0.4s, v1.4s, v2.4s":      {Class: "fma", Bytes: 16},
		arm + "fmadd\ts0, s1, s2, s0":          {Class: "fma", Bytes: 4},
		arm + "fadd\tv0.2d, v1.2d, v2.2d":      {Class: "vector", Bytes: 16},
		arm + "fadd\ts0, s1, s2":               {Class: "scalar float", Bytes: 4},
		arm + "fdiv\td0, d1, d2":               {Class: "divide", Bytes: 8},
		arm + "add\tx0, x0, #0x1":              {Class: "integer"},
		arm + "bl\t1030 <sinf@plt>":            {Class: "call"},
		arm + "b.ne\t97 <k+0x97>  // b.any":    {Class: "branch"},
	} {
		head, instruction := "", code
		if len(code) > len(arm) && code[:len(arm)] == arm {
			head, instruction = arm, code[len(arm):]
		}
		want.Count = 1
		got := codeid.ReadMixes(head + "Disassembly of section .text:\n\n0000000000000000 <k>:\n   0:\t" + instruction + "\n")
		if diff := cmp.Diff(map[string]measure.Mix{"k": {Instructions: 1, Counts: []measure.MixCount{want}}}, got); diff != "" {
			t.Errorf("%s:\n%s", instruction, diff)
		}
	}
}

func FuzzReadMixes(f *testing.F) {
	f.Add("p:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n\n0000000000001190 <third>:\n    1190:\tvmovups (%rdi,%rax,1),%ymm4\n    1197:\tjne    1190 <third>\n    119c:\tmovss  0xe35(%rip),%xmm0        # 2010 <_IO_stdin_used+0xc>\n\t\t\t11: R_X86_64_PLT32\tsinf-0x4\n")
	f.Add("p:     file format elf64-littleaarch64\nDisassembly of section .text:\n\n0000000000000000 <k>:\n   0:\tldp\tq0, q1, [x1]\n   4:\tb.ne\t0 <k>\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, m := range codeid.ReadMixes(text) {
			sum := 0
			for _, c := range m.Counts {
				sum += c.Count
			}
			if name == "" || sum != m.Instructions {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})
}
