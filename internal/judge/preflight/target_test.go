package preflight

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRunsOn(t *testing.T) {
	for _, tt := range []struct {
		compiled, on string
		want         bool
	}{
		{"sm_80", "sm_86", true},
		{"sm_86", "sm_80", false},
		{"sm_80", "sm_90", false},
		{"sm_100", "sm_103", true},
		{"sm_100f", "sm_103", true},
		{"sm_103f", "sm_100", false},
		{"sm_100a", "sm_103", false},
		{"sm_100a", "sm_100", true},
		{"sm_90a", "sm_90", true},
		{"sm_120a", "sm_121", false},
		{"gfx942", "sm_90", false},
	} {
		if got := runsOn(tt.compiled, tt.on); got != tt.want {
			t.Errorf("%s on %s: %v, want %v", tt.compiled, tt.on, got, tt.want)
		}
	}
}

// The peaks of a card of AMD are known, the limits of its architecture are not.
func TestTargetCard_OfAMD(t *testing.T) {
	got, err := TargetCard("MI300X")
	if err != nil || got.Known() || got.card == nil || got.String() != "MI300X (gfx942)" {
		t.Errorf("%v: %+v", err, got)
	}
}

// Inside one cached block of PyTorch, the sanitizer cannot see the end of a tensor.
func TestSanitizer_SeesEachTensor(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$PYTORCH_NO_CUDA_MEMORY_CACHING\" >\"$(dirname \"$0\")/seen\"\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "compute-sanitizer"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	l := &checker{Options: Options{Suite: parse(t, "matrix: {N: [1]}"), Dir: dir}, known: map[Gate]bool{}}
	l.Target = target(t, "L4")
	l.Target.Here = true
	l.sanitize(t.Context(), l.variants()[0])
	if seen, err := os.ReadFile(filepath.Join(dir, "seen")); err != nil || string(seen) != "1\n" {
		t.Errorf("%v: the variable is %q", err, seen)
	}
}
