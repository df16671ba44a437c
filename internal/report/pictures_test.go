package report_test

import (
	"bytes"
	"fmt"
	"image/png"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/diagnose"
	"github.com/goatnote-inc/pawl/internal/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// roofRun is a suite of kernels of all kinds on an L4: some on the roof, some far below.
func roofRun(cases int) *measure.Run {
	m := newMaker(3, 20)
	kinds := []struct {
		name             string
		flops, intensity float64
		reached          float64
		dtype            string
	}{
		{"attention", 4.3e9, 64, 0.31, "fp16"},
		{"gemm", 17e9, 170, 0.72, "fp16"},
		{"softmax", 2.1e7, 0.62, 0.83, "fp32"},
		{"layernorm", 3.4e7, 1.1, 0.55, "fp32"},
		{"conv", 6e9, 38, 0.22, "fp32"},
		{"rope", 1.2e7, 0.38, 0.41, "fp32"},
		{"spmm", 8e8, 5.2, 0.66, "fp32"},
		{"reduce", 1.6e7, 0.25, 0.91, "fp32"},
		{"fft", 9e8, 11, 0.36, "fp32"},
		{"gelu", 4e7, 1.9, 0.74, "fp32"},
	}
	peaks := map[string]float64{"fp16": 121e12, "fp32": 30.3e12}
	run := m.run()
	for i := range cases {
		k := kinds[i%len(kinds)]
		scale := 1 + 0.35*float64(i/len(kinds))
		intensity := k.intensity * scale
		rate := k.reached * min(peaks[k.dtype], 300e9*intensity) / scale
		effect := []float64{0.3, -0.22, 0.01, -0.35, 0.6}[i%5]
		if k.reached > 0.6 {
			effect = 0.25
		}
		sides := m.sides(madeCase{name: fmt.Sprintf("%s/N%d", k.name, 512<<(i/len(kinds))), us: k.flops / rate * 1e6, effect: effect, spread: 0.003})
		for j := range sides {
			sides[j].Flops, sides[j].Bytes, sides[j].Params = k.flops, k.flops/intensity, map[string]any{"dtype": k.dtype}
		}
		run.Cases = append(run.Cases, sides...)
	}
	return run
}

func all(measure.CaseKey) bool { return true }

// seen is a side of a case as a profiler tells it.
func seen(ns float64, facts profile.Facts) *diagnose.Seen {
	card := gpu.FindCards("L4")[0]
	p := &profile.Profile{
		Format: profile.Format,
		Tool: profile.Tool{Name: "ncu", Version: "2024.1.1.0", Settings: []profile.Setting{
			{Name: "clock_control", Value: "base"}, {Name: "set", Value: "full"},
		}},
		Subject:  profile.Subject{Case: "attention/B32_H8_S512_D64", Commit: "3f2a9c41d07be5a8f6c2", Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54.15"}, Nanoseconds: ns},
		Launches: []profile.Launch{{Kernel: "attention_fwd"}},
	}
	return &diagnose.Seen{Profile: p, Launch: p.Launches[0], Facts: facts, Card: &card}
}

func why() report.Why {
	return report.Why{
		Case: "attention/B32_H8_S512_D64",
		Before: seen(312e3, profile.Facts{
			"flops": 8.6e8, "dram_bytes": 2.2e7, "registers": 96, "occupancy_pct": 48, "dram_pct": 38.2, "sm_clock_hz": 795e6,
			"warp_latency": 12.4, "stall_long_scoreboard": 3.1, "stall_barrier": 1.2, "stall_selected": 1, "stall_wait": 2.4, "stall_not_selected": 1.9,
			"stall_mio_throttle": 1.1, "stall_short_scoreboard": 0.8, "stall_math_pipe_throttle": 0.5, "stall_no_instruction": 0.2, "stall_lg_throttle": 0.1,
		}),
		After: seen(371e3, profile.Facts{
			"flops": 8.6e8, "dram_bytes": 5.9e7, "registers": 168, "occupancy_pct": 16.4, "dram_pct": 71.4, "sm_clock_hz": 795e6,
			"warp_latency": 21.9, "stall_long_scoreboard": 11.8, "stall_barrier": 3.2, "stall_selected": 1, "stall_wait": 2.5, "stall_not_selected": 0.4,
			"stall_mio_throttle": 1.0, "stall_short_scoreboard": 0.9, "stall_math_pipe_throttle": 0.3, "stall_no_instruction": 0.4, "stall_lg_throttle": 0.3,
		}),
	}
}

// TestWhyScreenshots makes the pictures of docs/explanation/pictures.md.
func TestWhyScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots FOLDER writes them")
	}
	w := why()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"roofline-case":  func(b *bytes.Buffer) error { return report.RooflinePNG(b, report.RooflineOf([]report.Why{w})) },
		"roofline-few":   func(b *bytes.Buffer) error { return report.RooflinePNG(b, report.RooflineOfRun(roofRun(6), all)) },
		"roofline-suite": func(b *bytes.Buffer) error { return report.RooflinePNG(b, report.RooflineOfRun(roofRun(30), all)) },
		"stalls":         func(b *bytes.Buffer) error { return report.StallsPNG(b, report.StallsOf(w.Before, w.After)) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		keep(t, name, picture)
	}
}
