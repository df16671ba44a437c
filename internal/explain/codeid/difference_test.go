package codeid_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

const scale = `extern "C" __global__ void scale(const TYPE *__restrict__ in, TYPE *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    TYPE v = in[i];
    BODY
    out[i] = v;
  }
}
`

// compiled is what is known of a kernel that was compiled here and run nowhere.
func compiled(t *testing.T, text string, ns float64) diagnose.Subject {
	t.Helper()
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		t.Skip("there is no nvcc here")
	}
	dir := t.TempDir()
	source, cubin := filepath.Join(dir, "k.cu"), filepath.Join(dir, "k.cubin")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := exec.CommandContext(t.Context(), nvcc, "-arch=sm_89", "-Xptxas", "-v", "-cubin", source, "-o", cubin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	functions, err := codeid.Mixes(t.Context(), []string{cubin}, []string{"scale"})
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := cuda.Inspect(t.Context(), []string{cubin}, string(log))
	if err != nil {
		t.Fatal(err)
	}
	launch := profile.Launch{Kernel: "scale", CC: "8.9"}
	return diagnose.Subject{Launch: launch, Profile: &profile.Profile{
		Tool: profile.Tool{Name: "ncu"}, Subject: profile.Subject{Nanoseconds: ns}, Launches: []profile.Launch{launch},
		Code: profile.Code{Kernels: kernels, Functions: functions},
	}}
}

// From the source to the sentence, through nvcc and cuobjdump: what the compiler made
// of two versions of a kernel is the first thing to be said of them.
func TestLoadsOfRealKernelsAreToldApart(t *testing.T) {
	wide := compiled(t, strings.NewReplacer("TYPE", "float4", "BODY", "v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;").Replace(scale), 100e3)
	narrow := compiled(t, strings.NewReplacer("TYPE", "float", "BODY", "v *= 2;").Replace(scale), 130e3)
	for _, c := range []struct {
		before, after diagnose.Subject
		want          string
	}{
		{wide, narrow, "30.0 % slower (130 us, was 100 us): loads are 4 bytes wide (was 16)"},
		{narrow, wide, "23.1 % faster (100 us, was 130 us): loads are 16 bytes wide (was 4)"},
	} {
		d, err := diagnose.Compare(c.before, c.after)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(d.Sentence, c.want) || d.Identical || len(d.Causes) == 0 || d.Causes[0].Name != "narrow-loads" {
			t.Errorf("%s\n%+v", d.Sentence, d.Causes)
		}
	}
	again := compiled(t, "// a comment\n"+strings.NewReplacer("TYPE", "float", "BODY", "v *= 2;").Replace(scale), 150e3)
	d, err := diagnose.Compare(narrow, again)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Identical || !strings.Contains(d.Sentence, "the machine code is identical: check the clocks, the data and the machine") {
		t.Errorf("%s", d.Sentence)
	}
}

// A bound on registers that is too tight, through ptxas: the spills are named.
func TestSpillsOfRealKernelsAreTold(t *testing.T) {
	text := `extern "C" __global__ void scale(const float *p, float *out, int n) {
  float a[64], s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) a[i] = p[i * n + threadIdx.x];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 64; i++) s += a[i];
  out[threadIdx.x] = s;
}
`
	bound := strings.Replace(text, "void scale", "void __launch_bounds__(1024, 2) scale", 1)
	d, err := diagnose.Compare(compiled(t, text, 100e3), compiled(t, bound, 180e3))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Causes) == 0 || d.Causes[0].Name != "spills" || !strings.Contains(d.Sentence, "the compiler spills") || !strings.Contains(d.Sentence, "was 0 bytes") {
		t.Errorf("%s\n%+v", d.Sentence, d.Causes)
	}
	t.Log(d.Sentence, "\n", d.Causes[0].Chain)
}
