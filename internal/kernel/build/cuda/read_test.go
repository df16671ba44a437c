package cuda_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

func TestReadPtxas(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want cuda.Log
	}{
		"old": {
			text: `kernel.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : 0 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'
ptxas info    : Function properties for _Z1kPf
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 38 registers, 2112 bytes smem, 376 bytes cmem[0], 8 bytes cmem[2]
`,
			want: cuda.Log{Entries: []cuda.Entry{{
				Symbol: "_Z1kPf", Arch: "sm_75", Registers: 38, Shared: 2112, Stack: 64, Constant: 384, SpillStores: 8, SpillLoads: 12, Told: true,
			}}},
		},
		"new": {
			text: `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 5 barriers, 256 bytes cumulative stack size, 72 bytes smem, 16 bytes lmem
ptxas info    : Compile time = 48.895 ms
`,
			want: cuda.Log{Entries: []cuda.Entry{{
				Symbol: "k", Arch: "sm_90a", Registers: 168, Shared: 72, Stack: 256, Local: 16, Barriers: 5, Told: true,
			}}},
		},
		"a callee spills": {
			text: `ptxas info    : Compiling entry function 'outer' for 'sm_89'
ptxas info    : Function properties for outer
    816 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, 372 bytes cmem[0]
ptxas info    : Function properties for _Z5pairsPKfi
    0 bytes stack frame, 816 bytes spill stores, 820 bytes spill loads
ptxas info    : Compiling entry function 'next' for 'sm_89'
ptxas info    : Function properties for next
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, 372 bytes cmem[0]
`,
			want: cuda.Log{Entries: []cuda.Entry{
				{Symbol: "outer", Arch: "sm_89", Registers: 255, Stack: 816, Constant: 372, SpillStores: 816, SpillLoads: 820, Told: true},
				{Symbol: "next", Arch: "sm_89", Registers: 12, Constant: 372, Told: true},
			}},
		},
		"remarks": {
			text: `ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
ptxas info    : (C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in function 'gemm'
ptxas info    : (C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in function 'gemm'
ptxas info    : Function properties for gemm
    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers
ptxas warning : Registers are spilled to local memory in function 'gemm', 4 bytes spill stores, 4 bytes spill loads
`,
			want: cuda.Log{Entries: []cuda.Entry{{
				Symbol: "gemm", Arch: "sm_90a", Registers: 255, SpillStores: 4, SpillLoads: 4, Told: true,
				Remarks: []string{
					"(C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in function 'gemm'",
					"Registers are spilled to local memory in function 'gemm', 4 bytes spill stores, 4 bytes spill loads",
				},
			}}},
		},
		"too much shared memory": {
			text: `ptxas error   : Entry function '_Z1fPf' uses too much shared data (0x13880 bytes, 0xc000 max)
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1fPf' for 'sm_89'
ptxas info    : Function properties for _Z1fPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 80000 bytes smem, 360 bytes cmem[0]
`,
			want: cuda.Log{
				Entries:   []cuda.Entry{{Symbol: "_Z1fPf", Arch: "sm_89", Registers: 10, Shared: 80000, Constant: 360, Told: true}},
				Overflows: []cuda.Overflow{{Symbol: "_Z1fPf", Arch: "sm_89", Bytes: 80000, Limit: 49152}},
			},
		},
		"without -v only the error": {
			text: "ptxas error   : Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)\n",
			want: cuda.Log{Overflows: []cuda.Overflow{{Symbol: "f", Bytes: 80000, Limit: 49152}}},
		},
		"compiled twice, the last counts": {
			text: `ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 64 registers
`,
			want: cuda.Log{Entries: []cuda.Entry{{Symbol: "k", Arch: "sm_80", Registers: 64, Told: true}}},
		},
		"cut off": {
			text: "ptxas info    : Function properties for k\n    0 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\nptxas info    : Used 3 registers\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, cuda.ReadPtxas(c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A log of a real attention kernel in five tilings, by a newer toolkit.
func TestReadRecordedPtxas(t *testing.T) {
	dir := os.Getenv("PAWL_DATA")
	if dir == "" {
		t.Skip("PAWL_DATA is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "ptxas", "fa_s512_v3_sm89.txt"))
	if err != nil {
		t.Fatal(err)
	}
	type figures struct{ Registers, Barriers, Stack, Shared, Constant, Spilled int }
	var got []figures
	var symbols []string
	for _, e := range cuda.ReadPtxas(string(text)).Entries {
		got = append(got, figures{e.Registers, e.Barriers, e.Stack, e.Shared, e.Constant, e.SpillStores + e.SpillLoads})
		symbols = append(symbols, e.Symbol)
		if e.Arch != "sm_89" || !e.Told {
			t.Errorf("%+v", e)
		}
	}
	want := []figures{
		{111, 1, 800, 36992, 401, 0}, {127, 1, 1344, 24704, 401, 0}, {95, 1, 1072, 45184, 401, 0}, {69, 1, 1216, 24704, 401, 0}, {111, 1, 1344, 41088, 401, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	name := cuda.Short(cuda.Demangle(t.Context(), symbols)[0])
	if want := "flash_attention_s512_v3_kernel<KernelTraits<16, 64, 64, 4, 2, true, true> >"; name != want && strings.HasPrefix(name, "flash") {
		t.Errorf("%s, want %s", name, want)
	}
}

func TestReadUsage(t *testing.T) {
	text := `
Fatbin elf code:
================
arch = sm_75
code version = [1,7]

Resource usage:
 Common:
  GLOBAL:56 CONSTANT[3]:28
 Function calculate:
  REG:24 STACK:8 SHARED:16 LOCAL:4 CONSTANT[0]:472 CONSTANT[2]:24 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin ptx code:
================
arch = sm_89
ptxasOptions = -v

Fatbin elf code:
================
arch = sm_90a

Resource usage:
 Function calculate:
  REG:30 STACK:0 SHARED:1040 LOCAL:0 CONSTANT[0]:548
 Function cut:
`
	want := []cuda.Usage{
		{Symbol: "calculate", Arch: "sm_75", Registers: 24, Stack: 8, Shared: 16, Local: 4, Constant: 496},
		{Symbol: "calculate", Arch: "sm_90a", Registers: 30, Shared: 1040, Constant: 548},
	}
	if diff := cmp.Diff(want, cuda.ReadUsage(text)); diff != "" {
		t.Error(diff)
	}
}

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"void attention<64>(float const*, int)":         "attention<64>",
		"void transpose<32>(float const*, float*, int)": "transpose<32>",
		"big":                              "big",
		"outer(float const*, float*, int)": "outer",
		"void ns::k<float, (int)4>(float const*)":                      "ns::k<float, (int)4>",
		"(anonymous namespace)::k()":                                   "k",
		"std::enable_if<(A)1, void>::type ns::k<A<(B)2> >(void (*)())": "ns::k<A<(B)2> >",
		"ns::ops<int>::operator()(int)":                                "ns::ops<int>::operator()(int)",
		"my_operator_kernel(float*)":                                   "my_operator_kernel",
		"":                                                             "",
	} {
		if got := cuda.Short(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
