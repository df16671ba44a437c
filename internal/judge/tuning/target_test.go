package tuning

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

const targetSuite = `version: 1
definition: [bench.py]
harness: {command: ./bench.py}
benchmarks:
  work:
    matrix: {N: [1, 2]}
    tune: {parameters: {BLOCK: {values: [8, 16], default: 8}}}
  fixed:
    matrix: {N: [1]}
`

// repository makes a repository with these files, all tracked.
func repository(t *testing.T, files map[string]string) (dir string, s *suite.Suite) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		testrun.Git(t, dir, args...)
	}
	s, err := suite.Load(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func TestStale(t *testing.T) {
	here := gpu.Identity{Name: "NVIDIA L4", Driver: "550"}
	for name, tt := range map[string]struct {
		edit   map[string]string // files that changed since it was tuned
		values map[string]any
		device gpu.Identity
		want   string
	}{
		"nothing changed":               {},
		"a source":                      {edit: map[string]string{"kernel.cu": "b"}, want: "for other sources"},
		"the definition":                {edit: map[string]string{"bench.py": "b"}},
		"documentation":                 {edit: map[string]string{"README.md": "b"}},
		"pawl's header":                 {edit: map[string]string{"pawl.h": "b"}},
		"a file that git does not know": {edit: map[string]string{"new.cu": "b"}},
		"another driver":                {device: gpu.Identity{Name: "NVIDIA L4", Driver: "560"}, want: "with driver 550, which is now 560"},
		"another device":                {device: gpu.Identity{Name: "NVIDIA H100", Driver: "560"}, want: "for NVIDIA L4, and this is NVIDIA H100"},
		"values that were not tuned":    {values: map[string]any{"BLOCK": 16}, device: gpu.Identity{Name: "NVIDIA H100"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := repository(t, map[string]string{"pawl.yaml": targetSuite, "kernel.cu": "a", "bench.py": "a", "README.md": "a", "pawl.h": "a"})
			if tt.values == nil {
				tt.values = map[string]any{"BLOCK": 8}
			}
			if tt.device.Name == "" {
				tt.device = here
			}
			text, err := tune.Tuned{Schema: "pawl.tuned/v1"}.With("work", tune.TunedValues{Case: "work/N2", Values: tt.values, For: TargetOf(t.Context(), s, dir, here)})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, tune.TunedFile), text, 0o600); err != nil {
				t.Fatal(err)
			}
			for name, text := range tt.edit {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			list, err := Stale(t.Context(), s, dir, tt.device)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(list) == 0:
			case len(list) != 1 || len(list[0].Why) != 1 || list[0].Why[0] != tt.want || list[0].Benchmark != "work" || list[0].Case != "work/N2":
				t.Errorf("stale: %+v, want %q", list, tt.want)
			}
		})
	}
}

func TestStale_WithoutTuning(t *testing.T) {
	dir, s := repository(t, map[string]string{"pawl.yaml": targetSuite})
	if list, err := Stale(t.Context(), s, dir, gpu.Identity{Name: "NVIDIA L4"}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCaseOf(t *testing.T) {
	_, s := repository(t, map[string]string{"pawl.yaml": targetSuite})
	for _, tt := range [][3]string{{"work", "work/N2", "work/N2"}, {"work", "work/N9", "work/N1"}, {"gone", "gone/N1", "gone"}} {
		if got := caseOf(s, tt[0], tt[1]); got != tt[2] {
			t.Errorf("caseOf(%s, %s) is %s, want %s", tt[0], tt[1], got, tt[2])
		}
	}
}
