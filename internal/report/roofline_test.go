package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/roofline"
	"github.com/goatnote-inc/pawl/measure"
)

func TestAttainable(t *testing.T) {
	r := &roofline.Roof{
		Memory:  []roofline.Ceiling{{Name: "DRAM", Value: 300e9}},
		Compute: []roofline.Ceiling{{Name: "FP16 tensor", Value: 121e12}, {Name: "FP32", Value: 30e12}},
	}
	for _, tt := range []struct {
		point roofline.Point
		want  float64
	}{
		{roofline.Point{Intensity: 1, Under: "FP32"}, 300e9},
		{roofline.Point{Intensity: 100, Under: "FP32"}, 30e12},
		{roofline.Point{Intensity: 200, Under: "FP32"}, 30e12},
		{roofline.Point{Intensity: 200, Under: "FP16 tensor"}, 60e12},
		{roofline.Point{Intensity: 1e4, Under: "FP8 tensor"}, 121e12}, // not known: the highest
	} {
		if got := r.Attainable(tt.point); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.point, got, tt.want)
		}
	}
	if got := r.Ridge(r.Compute[1]); got != 100 {
		t.Errorf("ridge %v", got)
	}
	if got := (&roofline.Roof{}).Attainable(roofline.Point{Intensity: 1}); got != 0 {
		t.Errorf("without ceilings %v is attainable", got)
	}
}

// A time without a profiler stands under the ceilings of the card, one under a profiler
// under those of the clock that the profiler held.
func TestRooflineClocks(t *testing.T) {
	facts := profile.Facts{"flops": 1e9, "dram_bytes": 1e8, "time_ns": 2e6, "sm_clock_hz": 1020e6, "dram_peak_bytes_per_s": 280e9}
	measured := roofline.OfProfiles(roofline.Profiled{Case: "k", After: seen(1e6, facts)})
	if p := measured.Cases[0][0]; p.FlopsPerSecond != 1e12 || p.Intensity != 10 || p.Side != "" {
		t.Errorf("%+v", p)
	}
	if m, c := measured.Memory[0].Value, measured.Compute[0].Value; m != 300e9 || c != 30.3e12 {
		t.Errorf("ceilings %v and %v", m, c)
	}
	profiled := roofline.OfProfiles(roofline.Profiled{Case: "k", After: seen(0, facts)})
	if p := profiled.Cases[0][0]; p.FlopsPerSecond != 5e11 {
		t.Errorf("%+v", p)
	}
	if m, c := profiled.Memory[0].Value, profiled.Compute[0].Value; m != 280e9 || math.Abs(c-30.3e12/2) > 1e9 {
		t.Errorf("ceilings %v and %v", m, c)
	}
	if !strings.Contains(profiled.Describe(), "at 1020 MHz") {
		t.Errorf("%s", profiled.Describe())
	}
}

// Tensor cores have a ceiling of their own, whatever counts them.
func TestRooflineUnder(t *testing.T) {
	for want, facts := range map[string]profile.Facts{
		"FP32":        {"flops": 1e9, "flops_fp32": 1e9},
		"FP64":        {"flops": 1e9, "flops_fp64": 9e8},
		"FP16 tensor": {"flops": 1e9, "flops_tensor": 9e8},
		"FP32 ":       {"flops": 1e9, "pipe_fma_pct": 60, "pipe_tensor_pct": 8},
	} {
		facts["dram_bytes"] = 1e8
		r := roofline.OfProfiles(roofline.Profiled{Case: "k", After: seen(1e6, facts)})
		if got := r.Cases[0][0].Under; got != strings.TrimSpace(want) {
			t.Errorf("%v: under %s", facts, got)
		}
	}
}

func TestRooflineOfRun(t *testing.T) {
	run := roofRun(10)
	r := roofline.OfRun(run, func(k measure.CaseKey) bool { return k.Benchmark != "rope/N512" })
	if len(r.Cases) != 9 || len(r.Cases[0]) != 2 || len(r.Compute) != 2 || r.Compute[0].Name != "FP16 tensor" {
		t.Errorf("%v, %v", r.Cases, r.Compute)
	}
	// On a CPU there are points only, and it says so; a ceiling that the caller knows counts.
	run.Device = gpu.Identity{Kind: gpu.CPU, Name: "Example CPU"}
	r = roofline.OfRun(run, all)
	if len(r.Memory)+len(r.Compute) != 0 || !strings.Contains(r.Describe(), "No ceiling is known for Example CPU") {
		t.Errorf("%s", r.Describe())
	}
	r.Memory, r.Compute = []roofline.Ceiling{{Name: "DRAM", Value: 40e9}}, []roofline.Ceiling{{Name: "peak", Value: 500e9}}
	if text := r.Describe(); strings.Contains(text, "No ceiling") || !strings.Contains(text, "limited by peak") {
		t.Errorf("%s", text)
	}
	// Work that nobody declared cannot be placed.
	for i := range run.Cases[:2] {
		run.Cases[i].Bytes = 0
	}
	r = roofline.OfRun(run, all)
	if len(r.Cases) != 9 || !strings.Contains(r.Describe(), "Not drawn: 1 case") {
		t.Errorf("%d cases: %s", len(r.Cases), r.Describe())
	}
	if r = roofline.OfRun(roofRun(33), all); len(r.Cases) != 30 || !strings.Contains(r.Describe(), "Not drawn: 3 cases (a picture shows at most 30") {
		t.Errorf("%d cases: %v", len(r.Cases), r.Notes)
	}
}

// Two rooflines of one device in one picture: no case is lost, no ceiling moves.
func TestRooflineJoin(t *testing.T) {
	r := roofline.OfRun(roofRun(10), all)
	ceilings := fmt.Sprint(r.Memory, r.Compute)
	r.Join(roofline.OfProfiles(why().Profiled()))
	if len(r.Cases) != 11 || len(r.Cases[10]) != 2 || fmt.Sprint(r.Memory, r.Compute) != ceilings {
		t.Errorf("%v", r.Cases)
	}
	rows := r.Rows()
	if last := fmt.Sprint(rows[len(rows)-1]); last != "[attention/B32_H8_S512_D64 candidate 14.6 2.32 TFLOP/s 53 % DRAM]" {
		t.Errorf("%s", last)
	}
	r.Join(roofline.OfRun(roofRun(30), all))
	if len(r.Cases) != 30 || !strings.Contains(r.Describe(), "Not drawn: 11 cases") {
		t.Errorf("%d cases: %v", len(r.Cases), r.Notes)
	}
}

func TestRooflineDescribe(t *testing.T) {
	golden.Check(t, "roofline.txt", strings.ReplaceAll(roofline.OfProfiles(why().Profiled()).Describe(), ". ", ".\n")+"\n")
}

// Whatever is drawn, the drawing is well formed and the picture has its size.
func TestRooflineDrawsAnything(t *testing.T) {
	drawn := 0
	number := rapid.OneOf(rapid.Float64Range(1e-6, 1e16), rapid.Float64())
	rapid.Check(t, func(t *rapid.T) {
		r := &roofline.Roof{Device: rapid.String().Draw(t, "device")}
		facts := profile.Facts{}
		for _, name := range []string{"flops", "dram_bytes", "time_ns", "intensity", "flops_per_s", "sm_clock_hz", "dram_peak_bytes_per_s", "peak_fp32_flops_per_s"} {
			if rapid.Bool().Draw(t, "has") {
				facts[name] = number.Draw(t, name)
			}
		}
		of := roofline.Profiled{Case: rapid.String().Draw(t, "case"), Before: seen(0, facts), After: seen(number.Draw(t, "ns"), facts)}
		if rapid.Bool().Draw(t, "no card") {
			of.Before.Card, of.After.Card = nil, nil
		}
		for _, r := range []*roofline.Roof{r, roofline.OfProfiles(of)} {
			wellFormed(t, r.Picture().SVG("Roofline", r.Describe()))
			if drawn++; drawn%60 != 0 { // pictures take their time
				continue
			}
			var b bytes.Buffer
			if err := r.Picture().PNG(&b); err != nil {
				t.Fatal(err)
			}
			if c, err := png.DecodeConfig(&b); err != nil || c.Width != 1200 || c.Height > 1200 {
				t.Fatalf("%v %v", c, err)
			}
		}
	})
}

func wellFormed(t interface{ Fatalf(string, ...any) }, text string) {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Fatalf("no number: %s", text)
	}
}

func TestStalls(t *testing.T) {
	w := why()
	s := report.StallsOf(w.Before, w.After)
	if len(s.Bars) != 7 || !strings.HasPrefix(s.Bars[0].Reason, "long scoreboard") || s.Bars[6].Reason != "4 others" {
		t.Fatalf("%+v", s)
	}
	for side := range 2 {
		sum := 0.0
		for _, b := range s.Bars {
			sum += b.Cycles[side]
		}
		if math.Abs(sum-s.Total[side]) > 1e-9 {
			t.Errorf("bars of side %d sum to %v of %v", side, sum, s.Total[side])
		}
	}
	if report.StallsOf(nil, seen(1, profile.Facts{"host_instructions": 1})) != nil {
		t.Error("bars without stalls")
	}
	if got := report.StallsOf(nil, w.After).Describe(); strings.Contains(got, " to ") || !strings.Contains(got, "5.4") {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(report.StallsOf(w.After, w.Before).Bars[0].Cycles); got != "[5.4 3.1]" {
		t.Errorf("the other way round: %s", got)
	}
}

// A single case is named above the picture, where its points name their sides only.
func TestRooflineOfOneCaseNamesIt(t *testing.T) {
	r := roofline.OfProfiles(why().Profiled())
	if want := "Roofline of " + r.Cases[0][0].Name; !strings.Contains(r.Picture().SVG("", ""), want) {
		t.Errorf("the drawing lacks %q", want)
	}
}
