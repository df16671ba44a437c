package adapter

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is the folder of recorded sweeps; the test is skipped without it.
func recorded(t *testing.T) string {
	t.Helper()
	root := os.Getenv("PAWL_DATA")
	if root == "" {
		t.Skip("PAWL_DATA names no folder of recorded data")
	}
	return filepath.Join(root, "l4-sdpa")
}

// TestRecordedSweeps reads every recorded file and holds it against the median
// that its own program computed.
func TestRecordedSweeps(t *testing.T) {
	dir := recorded(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 18 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		if name == "env.json" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			run, err := ReadFile(t.Context(), path, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			wholesome(t, run)
			want := ownMedians(t, path)
			if len(run.Cases) != len(want) || run.Format != "sdpa" || len(run.Warnings) != 0 {
				t.Fatalf("%d cases of %d, format %s, warnings %+v", len(run.Cases), len(want), run.Format, run.Warnings)
			}
			for _, c := range run.Cases {
				samples := c.Rounds[0].Samples
				own, ok := want[c.Config]
				if got := median(samples) / 1e6; !ok || len(samples) != 100 || math.Abs(got/own-1) > 1e-12 {
					t.Errorf("case %s: %d samples, median %v ms, its own %v", c.Name(), len(samples), got, own)
				}
			}
			if d := run.Testbed; d.Device != "NVIDIA L4" || d.Driver != "" {
				t.Errorf("testbed %+v: want the L4, and no CUDA version as a driver", d)
			}
		})
	}
}

// ownMedians finds every median_ms of a file with the shape it stands beside,
// by looking for the names only.
func ownMedians(t *testing.T, path string) map[string]float64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	var walk func(v any, shape string)
	walk = func(v any, shape string) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e, shape)
			}
		case map[string]any:
			if config, ok := v["config"].(map[string]any); ok {
				shape = ""
				for _, names := range []string{"B batch batch_size", "H heads num_heads", "S seq seq_len", "D dim head_dim"} {
					n := strings.Fields(names)
					for _, key := range n[1:] {
						if value, ok := config[key]; ok {
							shape += fmt.Sprintf("_%s%v", n[0], value)
						}
					}
				}
			}
			if m, ok := v["median_ms"].(float64); ok {
				found[strings.TrimPrefix(shape, "_")] = m
			}
			for _, e := range v {
				walk(e, shape)
			}
		}
	}
	walk(doc, "")
	return found
}

// TestRecordedRounds makes one side of several recorded files of the same code.
func TestRecordedRounds(t *testing.T) {
	dir := recorded(t)
	names := []string{"sweep_config_03", "rerun_full_s512", "rerun_local_s512", "rerun_opt_s512"}
	merged, err := ReadFile(t.Context(), filepath.Join(dir, names[0]+".json"), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[1:] {
		run, err := ReadFile(t.Context(), filepath.Join(dir, name+".json"), "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if merged, err = Merge(merged, run); err != nil {
			t.Fatal(err)
		}
	}
	if c := merged.Cases; len(c) != 1 || c[0].Config != "B32_H8_S512_D64" || len(c[0].Rounds) != 4 || len(merged.Rounds) != 4 {
		t.Errorf("%d cases, %d rounds: %+v", len(c), len(merged.Rounds), c[0].CaseKey)
	}
}
