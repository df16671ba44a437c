package cuda_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/measure"
)

// compile runs the real compiler and returns what it printed.
func compile(t *testing.T, out string, args ...string) string {
	t.Helper()
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		t.Skip("there is no nvcc here")
	}
	log, err := exec.CommandContext(t.Context(), nvcc, append(args, "-o", out)...).CombinedOutput()
	if err != nil {
		t.Fatalf("nvcc %v: %v\n%s", args, err, log)
	}
	return string(log)
}

// Three kernels for three architectures: what the assembler says while it compiles
// and what is read from the object afterwards are the same.
func TestLogAndArtifactAgree(t *testing.T) {
	for _, registers := range []string{"0", "32"} {
		t.Run("maxrregcount="+registers, func(t *testing.T) {
			object := filepath.Join(t.TempDir(), "kernels.o")
			log := compile(t, object, "-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=sm_80",
				"-gencode=arch=compute_90,code=[sm_90,compute_90]", "-maxrregcount="+registers, "-Xptxas", "-v", "-c", "testdata/kernels.cu")
			kernels, err := cuda.Inspect(t.Context(), []string{object, "testdata/kernels.cu"}, log)
			if err != nil {
				t.Fatal(err)
			}
			entries := map[string]cuda.Entry{}
			for _, e := range cuda.ReadPtxas(log).Entries {
				entries[e.Symbol+e.Arch] = e
			}
			if len(kernels) != 9 || len(entries) != 9 {
				t.Fatalf("%d kernels, %d entries\n%s", len(kernels), len(entries), log)
			}
			spilled := 0
			for _, k := range kernels {
				symbol := k.Symbol
				if symbol == "" {
					symbol = k.Name
				}
				e := entries[symbol+k.Arch]
				type figures struct{ Registers, Shared, Stack, Stores, Loads int }
				if diff := cmp.Diff(figures{e.Registers, e.Shared, e.Stack, e.SpillStores, e.SpillLoads},
					figures{k.Registers, k.SharedBytes, k.StackBytes, k.Spill.StoreBytes, k.Spill.LoadBytes}); diff != "" {
					t.Errorf("%s %s: the log (-) and the artifact (+) differ:\n%s", k.Name, k.Arch, diff)
				}
				spilled += k.Spill.StoreBytes
				if k.Name == "transpose<32>" && (k.SharedBytes != 4224 || k.MaxThreads != 1024) {
					t.Errorf("transpose<32> on %s: %d bytes, %d threads", k.Arch, k.SharedBytes, k.MaxThreads)
				}
			}
			if (spilled > 0) != (registers == "32") {
				t.Errorf("%d bytes spilled", spilled)
			}
		})
	}
}

// A cubin does not say its architecture in cuobjdump's words; its header does.
func TestInspectCubinWithoutLog(t *testing.T) {
	cubin := filepath.Join(t.TempDir(), "kernels.cubin")
	compile(t, cubin, "-arch=sm_89", "-maxrregcount=32", "-cubin", "testdata/kernels.cu")
	kernels, err := cuda.Inspect(t.Context(), []string{cubin}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(kernels) != 3 || kernels[0].Name != "accumulate" || kernels[0].Arch != "sm_89" || kernels[0].StackBytes == 0 || kernels[0].Spill != nil {
		t.Errorf("%+v", kernels)
	}
	if want := (&measure.Spill{}); !cmp.Equal(want, kernels[2].Spill) {
		t.Errorf("%+v has no stack, so nothing is spilled", kernels[2])
	}
}
