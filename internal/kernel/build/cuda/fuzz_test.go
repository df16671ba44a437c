package cuda_test

import (
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

var ptxasSeeds = [][]byte{
	[]byte("ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'\nptxas info    : Function properties for _Z1kPf\n    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\nptxas info    : Used 38 registers, used 1 barriers, 8 bytes cumulative stack size, 2112 bytes smem, 376 bytes cmem[0]\n"),
	[]byte("ptxas error   : Entry function '_Z1fPf' uses too much shared data (0x13880 bytes, 0xc000 max)\nptxas info    : (C7518) Potential Performance Loss: in function 'k'\n"),
}

func TestHammerPtxas(t *testing.T) { mutate.Run(t, ptxasSeeds, readPtxas) }

func FuzzReadPtxas(f *testing.F) {
	for _, seed := range ptxasSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readPtxas(t, b) })
}

func readPtxas(t testing.TB, text []byte) {
	t.Helper()
	log := cuda.ReadPtxas(string(text))
	for _, e := range log.Entries {
		if e.Symbol == "" || e.Arch == "" || e.Registers < 0 || e.Shared < 0 || e.Constant < 0 || e.SpillStores < 0 {
			t.Errorf("%+v", e)
		}
	}
}

var usageSeeds = [][]byte{[]byte("Fatbin elf code:\n================\narch = sm_75\n\nResource usage:\n Common:\n  GLOBAL:0\n Function k:\n  REG:24 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:472 TEXTURE:0\n")}

func TestHammerUsage(t *testing.T) { mutate.Run(t, usageSeeds, readUsage) }

func FuzzReadUsage(f *testing.F) {
	for _, seed := range usageSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readUsage(t, b) })
}

func readUsage(t testing.TB, text []byte) {
	t.Helper()
	for _, u := range cuda.ReadUsage(string(text)) {
		if u.Symbol == "" || u.Registers < 0 || u.Constant < 0 {
			t.Errorf("%+v", u)
		}
	}
}

func FuzzReadCubin(f *testing.F) {
	seed, err := os.ReadFile("testdata/small.cubin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) { readCubin(t, data) })
}

func TestHammerCubin(t *testing.T) {
	seed, err := os.ReadFile("testdata/small.cubin")
	if err != nil {
		t.Fatal(err)
	}
	mutate.Run(t, [][]byte{seed}, readCubin)
}

func readCubin(t testing.TB, data []byte) {
	t.Helper()
	c, err := cuda.ReadCubin(data)
	if err == nil && c.Arch == "" {
		t.Errorf("%+v", c)
	}
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
