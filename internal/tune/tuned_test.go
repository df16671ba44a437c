package tune_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/tune"
)

func TestTarget_Differs(t *testing.T) {
	was := tune.Target{Device: "NVIDIA L4", Driver: "550.54", Compiler: []string{"nvcc: release 12.4"}, Kernel: "sha256:a", Commit: "one"}
	for name, tt := range map[string]struct {
		now  tune.Target
		want []string
	}{
		"the same":                {now: was},
		"another commit":          {now: tune.Target{Device: "NVIDIA L4", Driver: "550.54", Compiler: was.Compiler, Kernel: "sha256:a", Commit: "two"}},
		"nothing is known":        {now: tune.Target{}},
		"another device":          {now: tune.Target{Device: "NVIDIA\x1b[1m H100", Driver: "1"}, want: []string{"for NVIDIA L4, and this is NVIDIA[1m H100"}},
		"another driver":          {now: tune.Target{Device: "NVIDIA L4", Driver: "560.28"}, want: []string{"with driver 550.54, which is now 560.28"}},
		"another compiler":        {now: tune.Target{Device: "NVIDIA L4", Compiler: []string{"nvcc: release 12.6"}}, want: []string{"with nvcc: release 12.4, now nvcc: release 12.6"}},
		"other sources":           {now: tune.Target{Device: "NVIDIA L4", Kernel: "sha256:b"}, want: []string{"for other sources"}},
		"all but the device":      {now: tune.Target{Device: "NVIDIA L4", Driver: "2", Compiler: []string{"c"}, Kernel: "k"}, want: []string{"with driver 550.54, which is now 2", "with nvcc: release 12.4, now c", "for other sources"}},
		"the commit is not asked": {now: tune.Target{Device: "NVIDIA L4", Commit: "three"}},
	} {
		if diff := cmp.Diff(tt.want, was.Differs(tt.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTuned_KeepsOtherBenchmarks(t *testing.T) {
	dir := t.TempDir()
	put := func(benchmark string, v tune.TunedValues) {
		t.Helper()
		was, err := tune.LoadTuned(dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := was.With(benchmark, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, tune.TunedFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("matmul", tune.TunedValues{Case: "matmul/N1", Values: map[string]any{"B": 8, "F": "a<b"}, For: tune.Target{Device: "d"}})
	put("sum", tune.TunedValues{Values: map[string]any{"B": 1}})
	put("matmul", tune.TunedValues{Case: "matmul/N2", Values: map[string]any{"B": 16, "F": "a<b"}})
	got, err := tune.LoadTuned(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tune.TunedValues{
		"matmul": {Case: "matmul/N2", Values: map[string]any{"B": 16.0, "F": "a<b"}}, "sum": {Values: map[string]any{"B": 1.0}},
	}
	if diff := cmp.Diff(want, got.Benchmarks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadTuned_RefusesOtherFiles(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "another schema": `{"schema": "pawl.tuned/v2"}`, "too long": strings.Repeat(" ", 2<<20),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tune.TunedFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := tune.LoadTuned(dir); err == nil || !strings.Contains(err.Error(), tune.TunedFile) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTarget_SanitizedIsShort(t *testing.T) {
	long := tune.Target{Device: strings.Repeat("x", 1000), Compiler: make([]string, 100)}.Sanitized()
	if len(long.Device) > 200 || len(long.Compiler) > 20 {
		t.Errorf("%d letters, %d compilers", len(long.Device), len(long.Compiler))
	}
}
