package cuda_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/measure"
)

// count is how many instructions of a class there are, of the width if it is not 0.
func count(m measure.Mix, class string, bytes int) (all, inLoops int) {
	for _, c := range m.Counts {
		if c.Class == class && (bytes == 0 || c.Bytes == bytes) {
			all, inLoops = all+c.Count, inLoops+c.InLoops
		}
	}
	return all, inLoops
}

// What is written in the source is found in the code of four architectures.
func TestMixesOfRealKernels(t *testing.T) {
	for _, arch := range []string{"sm_75", "sm_80", "sm_89", "sm_90"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			cubin := filepath.Join(t.TempDir(), "mix.cubin")
			compile(t, cubin, "-arch="+arch, "-cubin", "testdata/mix.cu")
			list, err := cuda.Mixes(t.Context(), cubin)
			if err != nil {
				t.Fatal(err)
			}
			mixes := map[string]measure.Mix{}
			for _, s := range list {
				if s.Arch != arch {
					t.Errorf("%s is of %s", s.Symbol, s.Arch)
				}
				mixes[s.Symbol] = s.Mix
			}
			for _, want := range []struct {
				kernel, class string
				bytes         int
				looped        bool
			}{
				{"narrow", measure.OpLoadGlobal, 4, true},
				{"narrow", measure.OpStoreGlobal, 4, true},
				{"wide", measure.OpLoadGlobal, 16, true},
				{"wide", measure.OpStoreGlobal, 16, true},
				{"wide", measure.OpFMA32, 0, true},
				{"matrix", measure.OpTensor, 0, false},
				{"many", measure.OpLoadGlobal, 1, false},
				{"many", measure.OpLoadGlobal, 2, false},
				{"many", measure.OpLoadGlobal, 8, false},
				{"many", measure.OpLoadShared, 4, false},
				{"many", measure.OpStoreShared, 4, false},
				{"many", measure.OpFP16, 0, false},
				{"many", measure.OpFP64, 0, false},
				{"many", measure.OpSpecial, 0, false},
				{"many", measure.OpConversion, 0, false},
				{"many", measure.OpBarrier, 0, false},
				{"many", measure.OpAtomic, 0, false},
				{"many", measure.OpShuffle, 0, false},
				{"spilling", measure.OpLoadLocal, 0, true},
				{"spilling", measure.OpStoreLocal, 0, true},
			} {
				all, looped := count(mixes[want.kernel], want.class, want.bytes)
				if all == 0 || (looped > 0) != want.looped {
					t.Errorf("%s: %d of %q with %d bytes, %d in loops\n%+v", want.kernel, all, want.class, want.bytes, looped, mixes[want.kernel])
				}
			}
			if arch != "sm_75" {
				if all, _ := count(mixes["copy"], measure.OpAsyncCopy, 16); all == 0 {
					t.Errorf("copy: %+v", mixes["copy"])
				}
			}
			unknown(t, mixes)
		})
	}
}

// unknown fails where much of the code is on no list: a new architecture may have new
// names.
func unknown(t *testing.T, mixes map[string]measure.Mix) {
	t.Helper()
	all, other := 0, 0
	for _, m := range mixes {
		o, _ := count(m, measure.OpOther, 0)
		all, other = all+m.Instructions, other+o
	}
	if other*20 > all {
		t.Errorf("%d of %d instructions are of no class", other, all)
	}
}

// One object of two architectures has every kernel twice.
func TestMixesOfObject(t *testing.T) {
	object := filepath.Join(t.TempDir(), "kernels.o")
	compile(t, object, "-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_90,code=[sm_90,compute_90]", "-c", "testdata/kernels.cu")
	list, err := cuda.Mixes(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list {
		if !strings.Contains(s.Symbol, "pairs") { // on some the compiler keeps it a function
			names = append(names, s.Symbol+" "+s.Arch)
		}
	}
	slices.Sort(names)
	want := []string{
		"_Z5outerPKfPfi sm_75", "_Z5outerPKfPfi sm_90", "_Z9transposeILi32EEvPKfPfi sm_75", "_Z9transposeILi32EEvPKfPfi sm_90",
		"accumulate sm_75", "accumulate sm_90",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestMixesWithoutCode(t *testing.T) {
	object := filepath.Join(t.TempDir(), "ptx.o")
	compile(t, object, "-gencode=arch=compute_80,code=compute_80", "-c", "testdata/kernels.cu")
	if _, err := cuda.Mixes(t.Context(), object); err == nil || !strings.Contains(err.Error(), "PTX") {
		t.Errorf("%v", err)
	}
}

// Names that this machine's compiler does not write, as newer ones do.
func TestReadSass(t *testing.T) {
	for code, want := range map[string]measure.MixCount{
		"HGMMA.64x256x16.F32 R24, gdesc[UR4], R24, gsb0":  {Class: "tensor"},
		"UTMALDG.2D [UR8], [UR4]":                         {Class: "async copy"},
		"LDGSTS.E.BYPASS.LTC128B.128 [R5], [R2.64]":       {Class: "async copy", Bytes: 16},
		"LDSM.16.M88.4 R4, [R8]":                          {Class: "load shared", Bytes: 16},
		"LDSM.16.MT88.2 R4, [R8]":                         {Class: "load shared", Bytes: 8},
		"LDG.E.LTC128B.CONSTANT R4, [R8.64]":              {Class: "load global", Bytes: 4},
		"LDG.E.ENL2.256 R4, R8, [R8.64]":                  {Class: "load global", Bytes: 32},
		"HFMA2.MMA R5, -RZ, RZ, 0, 2.384185791015625e-07": {Class: "integer"},
		"WARPSYNC.ALL":                                    {Class: "branch"},
		"@!UP0 UIADD3 UR4, UR4, UR5":                      {Class: "integer"},
		"FROBNICATE R1":                                   {Class: "other"},
	} {
		want.Count = 1
		got := cuda.ReadSass("\tcode for sm_90a\n\t\tFunction : k\n        /*0000*/                   " + code + " ;  /* 0x00 */\n        /*0010*/  BRA 0x10;\n        /*0020*/ NOP;\n")
		if diff := cmp.Diff([]cuda.Sass{{Symbol: "k", Arch: "sm_90a", Mix: measure.Mix{Instructions: 1, Counts: []measure.MixCount{want}}}}, got); diff != "" {
			t.Errorf("%s:\n%s", code, diff)
		}
	}
}

var sassSeeds = [][]byte{[]byte("\tcode for sm_89\n\t\tFunction : scale\n\t.headerflags    @\"EF_CUDA_SM89\"\n" +
	"        /*0000*/                   MOV R1, c[0x0][0x28] ;         /* 0x00000a0000017a02 */\n" +
	"                                                                  /* 0x000fc40000000f00 */\n" +
	"        /*0010*/                   LDG.E.128 R4, [R2.64] ;        /* 0x00 */\n" +
	"        /*0020*/              @!P0 BRA 0x10 ;                     /* 0x00 */\n" +
	"        /*0030*/                   EXIT ;\n        /*0040*/ BRA 0x40;\n        /*0050*/ NOP;\n\t\t..........\n")}

func TestHammerSass(t *testing.T) { mutate.Run(t, sassSeeds, readSass) }

func FuzzReadSass(f *testing.F) {
	for _, seed := range sassSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readSass(t, b) })
}

func readSass(t testing.TB, text []byte) {
	t.Helper()
	for _, s := range cuda.ReadSass(string(text)) {
		sum := 0
		for _, c := range s.Mix.Counts {
			sum += c.Count
			if c.Count <= 0 || c.InLoops > c.Count || c.Bytes < 0 || c.Bytes > 32 {
				t.Errorf("%+v", c)
			}
		}
		if s.Symbol == "" || s.Arch == "" || sum != s.Mix.Instructions {
			t.Errorf("%+v", s)
		}
	}
}
