package report_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/roofline"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
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
func seen(ns float64, facts profile.Facts) *diagnose.Subject {
	card := gpu.FindCards("L4")[0]
	p := &profile.Profile{
		Format: profile.Format,
		Tool: profile.Tool{Name: "ncu", Version: "2024.1.1.0", Settings: []profile.Setting{
			{Name: "clock_control", Value: "base"}, {Name: "set", Value: "full"},
		}},
		Subject:  profile.Subject{Case: "attention/B32_H8_S512_D64", Commit: "3f2a9c41d07be5a8f6c2", Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54.15"}, Nanoseconds: ns},
		Launches: []profile.Launch{{Kernel: "attention_fwd"}},
	}
	return &diagnose.Subject{Profile: p, Launch: p.Launches[0], Facts: facts, Card: &card}
}

// why is a case whose loads lost their order: neighbouring threads no longer read
// neighbouring addresses, so that DRAM moves more bytes and warps wait longer for them.
func why() report.Why {
	before := profile.Facts{
		"flops": 8.6e8, "dram_bytes": 2.2e7, "registers": 96, "occupancy_pct": 48, "dram_pct": 23.5, "sm_clock_hz": 795e6, "load_bytes_per_sector": 32,
		"stall_long_scoreboard": 3.1, "stall_barrier": 1.2, "stall_selected": 1, "stall_wait": 2.4, "stall_not_selected": 1.9,
		"stall_mio_throttle": 1.1, "stall_short_scoreboard": 0.8, "stall_math_pipe_throttle": 0.5, "stall_no_instruction": 0.2, "stall_lg_throttle": 0.1,
	}
	after := maps.Clone(before)
	maps.Copy(after, profile.Facts{
		"dram_bytes": 5.9e7, "occupancy_pct": 48.2, "dram_pct": 53, "load_bytes_per_sector": 12,
		"stall_long_scoreboard": 5.4, "stall_barrier": 1.3, "stall_not_selected": 1.5, "stall_math_pipe_throttle": 0.4, "stall_lg_throttle": 0.5,
	})
	return report.Why{Case: "attention/B32_H8_S512_D64", Before: seen(312e3, before), After: seen(371e3, after)}
}

// explained is a case with all that can be said of it.
func explained() report.Why {
	w := why()
	w.Verdict, w.Change = ratchet.Regression, "18.9 % slower"
	w.Difference = &diagnose.Difference{
		Before: 312e3, After: 371e3, Timer: "measured",
		Sentence: "Loads from global memory use 12 of the 32 bytes of a sector, used 32 before: DRAM traffic rose from 22 to 59 MB, " +
			"and the wait for it from 3.1 to 5.4 cycles per instruction. Let neighbouring threads read neighbouring addresses first.",
		Causes: []diagnose.Cause{{
			Name: "access-pattern", Title: "Loads lost their order", Sentence: "Loads fetch sectors that they use in part.", Explains: new(0.9),
			Chain: []diagnose.Change{
				{Quantity: "load_bytes_per_sector", About: "bytes that loads use of a sector of 32", Before: new(32.0), After: new(12.0)},
				{Quantity: "dram_bytes", About: "bytes moved between L2 and device memory", Unit: "byte", Before: new(2.2e7), After: new(5.9e7)},
				{Quantity: "dram_pct", About: "device memory throughput, share of its peak", Unit: "%", Before: new(23.5), After: new(53.0)},
				{Quantity: "stall_long_scoreboard", About: "wait for data from memory, cycles per instruction", Before: new(3.1), After: new(5.4)},
			},
			Fixes: []diagnose.Fix{{
				Do:      "Let neighbouring threads read neighbouring addresses: threadIdx.x belongs to the last index.",
				Example: "// was: tile[ty][tx] = k[tx * stride + ty];\ntile[ty][tx] = k[ty * stride + tx];",
				Watch:   "bank conflicts where columns of the tile are read: pad its rows by one element.", Gain: 0.16,
			}},
		}, {
			Name: "queue", Title: "Loads queue", Sentence: "The queue of loads was full for 0.5 cycles per instruction, 0.1 before.", Explains: new(0.17), Symptom: true,
			Chain: []diagnose.Change{{Quantity: "stall_lg_throttle", About: "wait for the queue of loads, cycles per instruction", Before: new(0.1), After: new(0.5)}},
		}},
		Changes: []diagnose.Change{{Quantity: "occupancy_pct", About: "achieved occupancy", Unit: "%", Before: new(48.0), After: new(48.2)}},
	}
	w.Diagnosis = &diagnose.Diagnosis{
		Kernel: "attention_fwd", Bottleneck: diagnose.Latency,
		Sentence: "It waits for memory: 5.4 of 14.6 cycles per instruction, while loads use 12 of the 32 bytes of a sector.",
		Lines:    []string{"Neither DRAM (53.0 %) nor arithmetic is busy: warps wait.", "Loads use 12 of the 32 bytes of a sector."},
		Findings: []diagnose.Finding{{
			Rule: "uncoalesced", Title: "Loads use part of what they fetch", Class: diagnose.Memory, Sentence: "Loads use 12 of 32 bytes.",
			Evidence: []diagnose.Evidence{
				{Quantity: "load_bytes_per_sector", About: "bytes that loads use of a sector of 32", Value: 12, Limit: 25.6, Compare: "<"},
				{Quantity: "dram_pct", About: "device memory throughput, share of its peak", Value: 53, Unit: "%", Limit: 60, Compare: "<"},
			},
			Fixes: []diagnose.Fix{{Do: "Read tiles through shared memory, so that the order of the loads is free.", Watch: "the barrier behind the loads"}},
		}},
	}
	w.Before.Profile.Subject.Commit = "77ab01c9e2d4f6a8b0c1"
	w.Files = []string{"results/profiles/attention_B32_H8_S512_D64.ncu-rep", "results/profiles/attention_B32_H8_S512_D64.png"}
	return w
}

// explainedRun is a run in which that case got slower.
func explainedRun() *measure.Run {
	return newMaker(8, 100).run(
		madeCase{name: "attention/B32_H8_S512_D64", us: 312, effect: 0.19, spread: 0.004},
		madeCase{name: "attention/B16_H8_S1024_D64", us: 521, effect: -0.145, spread: 0.004},
		madeCase{name: "attention/B4_H16_S448_D64", us: 96, effect: 0.003, spread: 0.003},
	)
}

// alone is a case of which only the candidate was profiled.
func alone() report.Why {
	w := explained()
	w.Before, w.Difference, w.Verdict, w.Change = nil, nil, "", ""
	return w
}

// onHost is a case of a host kernel: no warps, no device memory.
func onHost() report.Why {
	side := func(commit string, facts profile.Facts) *diagnose.Subject {
		p := &profile.Profile{
			Tool:     profile.Tool{Name: "callgrind", Version: "3.24.0", Settings: []profile.Setting{{Name: "cache", Value: "32 KiB, 8-way"}}},
			Subject:  profile.Subject{Case: "matmul/N256", Commit: commit, Device: gpu.Identity{Kind: gpu.CPU, Name: "Example CPU"}, Nanoseconds: 2e6},
			Launches: []profile.Launch{{Kernel: "matmul"}},
		}
		return &diagnose.Subject{Profile: p, Launch: p.Launches[0], Facts: facts}
	}
	return report.Why{
		Case: "matmul/N256", Verdict: ratchet.Regression, Change: "2.31x slower",
		Before: side("77ab01c9e2d4f6a8b0c1", profile.Facts{"host_instructions": 2.1e7, "host_l1_miss_pct": 1.2}),
		After:  side("3f2a9c41d07be5a8f6c2", profile.Facts{"host_instructions": 8.4e7, "host_l1_miss_pct": 12.9}),
		Difference: &diagnose.Difference{
			Before: 2e6, After: 4.62e6, Timer: "measured",
			Sentence: "The inner loop walks down a column of B: of its reads 12.9 % miss L1, were 1.2 %. Swap the two inner loops.",
			Causes: []diagnose.Cause{{
				Name: "stride", Chain: []diagnose.Change{{Quantity: "host_l1_miss_pct", About: "reads that miss L1", Unit: "%", Before: new(1.2), After: new(12.9)}},
				Fixes: []diagnose.Fix{{Do: "Swap the two inner loops, so that the innermost walks along a row.", Example: "for (k = 0; k < n; k++)\n  for (j = 0; j < n; j++)\n    c[i*n+j] += a[i*n+k] * b[k*n+j];"}},
			}},
			Changes: []diagnose.Change{{Quantity: "host_instructions", About: "instructions of the host", Before: new(2.1e7), After: new(8.4e7)}},
		},
	}
}

// TestWhyScreenshots makes the pictures of docs/explanation/pictures.md.
func TestWhyScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots FOLDER writes them")
	}
	keep(t, "why-page", pageWithWhy(t))
	w := why()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"roofline-few":   func(b *bytes.Buffer) error { return roofline.OfRun(roofRun(6), all).Picture().PNG(b) },
		"roofline-suite": func(b *bytes.Buffer) error { return roofline.OfRun(roofRun(30), all).Picture().PNG(b) },
		"onepager":       func(b *bytes.Buffer) error { return report.OnePager(b, explained()) },
		"onepager-host":  func(b *bytes.Buffer) error { return report.OnePager(b, onHost()) },
		"stalls": func(b *bytes.Buffer) error {
			bars := report.StallsOf(w.Before, w.After).Draw(552)
			d := chart.New(600, bars.Height+56)
			d.Print(chart.Ink, chart.At(24, 32), chart.Label{Text: "What warps wait for, in cycles per instruction", Align: chart.Start, Bold: true, Heading: true})
			d.Include(bars, 24, 44)
			return d.PNG(b)
		},
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

// pageWithWhy is report.html of a run with a case that was profiled, in a real browser.
func pageWithWhy(t *testing.T) image.Image {
	t.Helper()
	chromium := openBrowser(t)
	chromium.open(render(t, "html", withWhys(explained())), 1100, "light")
	chromium.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1100, "height": 2010, "deviceScaleFactor": 1, "mobile": false})
	chromium.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))") // what was out of sight is drawn
	data, _ := chromium.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
	picture, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// Real reports of strangers' kernels, not only made up ones, have their pictures.
func TestPicturesOfRealReports(t *testing.T) {
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA names the folder with recorded data")
	}
	files, err := filepath.Glob(filepath.Join(data, "ncu", "real", "*.raw.csv"))
	if err != nil || len(files) == 0 {
		t.Skipf("no reports there: %v", err)
	}
	placed, stalls := 0, 0
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Read(file)
		file.Close()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		side, err := diagnose.NewSubject(p, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		diagnosis := diagnose.Rules().Diagnose(side)
		w := report.Why{Case: filepath.Base(path), After: &side, Diagnosis: &diagnosis}
		roof := roofline.OfProfiles(w.Profiled())
		for _, at := range slices.Concat(roof.Cases...) {
			placed++
			if most := roof.Attainable(at); !(at.FlopsPerSecond <= 1.05*most) {
				t.Errorf("%s is above its roof: %v of %v", path, at.FlopsPerSecond, most)
			}
		}
		if report.StallsOf(nil, &side) != nil {
			stalls++
		}
		if err := report.OnePager(io.Discard, w); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	t.Logf("of %d reports %d are placed in a roofline, %d have bars", len(files), placed, stalls)
	if placed < len(files)/2 || stalls < len(files)/2 {
		t.Errorf("of %d reports only %d are placed in a roofline and %d have bars", len(files), placed, stalls)
	}
}

func BenchmarkOnePager(b *testing.B) {
	w := explained()
	for b.Loop() {
		if err := report.OnePager(io.Discard, w); err != nil {
			b.Fatal(err)
		}
	}
}
