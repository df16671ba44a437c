package cuda_test

import (
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/build/cuda"
)

func FuzzReadPtxas(f *testing.F) {
	f.Add("ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'\nptxas info    : Function properties for _Z1kPf\n    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\nptxas info    : Used 38 registers, used 1 barriers, 8 bytes cumulative stack size, 2112 bytes smem, 376 bytes cmem[0]\n")
	f.Add("ptxas error   : Entry function '_Z1fPf' uses too much shared data (0x13880 bytes, 0xc000 max)\nptxas info    : (C7518) Potential Performance Loss: in function 'k'\n")
	f.Fuzz(func(t *testing.T, text string) {
		log := cuda.ReadPtxas(text)
		for _, e := range log.Entries {
			if e.Symbol == "" || e.Arch == "" || e.Registers < 0 || e.Shared < 0 || e.Constant < 0 || e.SpillStores < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}

func FuzzReadUsage(f *testing.F) {
	f.Add("Fatbin elf code:\n================\narch = sm_75\n\nResource usage:\n Common:\n  GLOBAL:0\n Function k:\n  REG:24 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:472 TEXTURE:0\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range cuda.ReadUsage(text) {
			if u.Symbol == "" || u.Registers < 0 || u.Constant < 0 {
				t.Errorf("%+v", u)
			}
		}
	})
}

func FuzzReadCubin(f *testing.F) {
	seed, err := os.ReadFile("testdata/small.cubin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := cuda.ReadCubin(data)
		if err == nil && c.Arch == "" {
			t.Errorf("%+v", c)
		}
	})
}

func FuzzShort(f *testing.F) {
	f.Add("void ns::k<float, (int)4>(float const*)")
	f.Add("> (<")
	f.Fuzz(func(t *testing.T, name string) {
		if short := cuda.Short(name); len(short) > len(name) {
			t.Errorf("%q is %q", name, short)
		}
	})
}
