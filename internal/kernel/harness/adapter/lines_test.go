package adapter

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

func TestLines_NamesCases(t *testing.T) {
	for _, tt := range []struct {
		line, want string  // case name; empty if the line has no time
		ns         float64 // the time
	}{
		{"time 1.5 ms", "time", 1.5e6},
		{"Elapsed: 0.25s", "time", 0.25e9},
		{"matmul: 12 us", "matmul", 12e3},
		{"matmul 64x64: 12µs", "matmul 64x64", 12e3},
		{"block_size  32 | time 0.5 ms | 3 GB/s", "time/block-size32", 0.5e6},
		{" > Perf (m=  64, n= 2112): 12 us | throughput: 9 TFLOPS", "Perf/m64_n2112", 12e3},
		{"BM_copy/64   12 ns   11 ns   5689", "BM_copy/64", 12},
		{"fft: 1234 runs - 81 us/run", "fft", 81e3},
		{"Average of 100 runs: 3 milliseconds", "time", 3e6},
		{"run 7 took 2 seconds.", "time", 2e9},
		{"sort took 1,234 ns", "sort", 1234},
		{"step=7 size=64 took 2 s", "time/size64", 2e9},
		{"sort N=64 run 3 took 5 ms", "sort/N64", 5e6},
		{"sort N 64 run 3 took 5 ms", "sort/N64", 5e6},
		{"sort dtype=f16 took 2 s", "sort dtype=f16", 2e9},
		{"12.5 GB/s", "", 0},
		{"5 items in 7 min", "", 0},
		{"version 1.5 msgpack", "", 0},
		{"0x12 ms", "", 0},
	} {
		line, ok, err := parseTime(tt.line)
		if err != nil || ok != (tt.want != "") {
			t.Errorf("%q: %v, %v", tt.line, ok, err)
			continue
		}
		if !ok {
			continue
		}
		run := mustReadLines(t, "", tt.line)
		if got := run.Cases[0].Name(); got != tt.want || line.time != tt.ns {
			t.Errorf("%q is %s with %g ns, want %s with %g ns", tt.line, got, line.time, tt.want, tt.ns)
		}
	}
}

func TestLines_PatternNamesTheParts(t *testing.T) {
	text := "junk 5 ms\nN=64 fwd: 1.5\nN=64 bwd: 2.5\nN=64 fwd: 1.75\n"
	run := mustReadLines(t, `N=(?<N>[0-9]+) (?<case>\w+): (?<us>[0-9.]+)`, text)
	if len(run.Cases) != 2 || run.Cases[0].Name() != "fwd/N64" || run.Cases[1].Name() != "bwd/N64" {
		t.Fatalf("cases %+v", run.Cases)
	}
	if got := run.Cases[0].Rounds[0].Samples; len(got) != 2 || got[0] != 1500 || got[1] != 1750 {
		t.Errorf("samples of fwd are %v ns, want 1500 and 1750", got)
	}
	if run := mustReadLines(t, `(?<time>[0-9.]+)(?<unit>[a-z]+)$`, "x 3us\ny 4ms\n"); len(run.Cases) != 1 || run.Cases[0].Rounds[0].Samples[1] != 4e6 {
		t.Errorf("a unit of its own is read as %+v", run.Cases)
	}
}

func TestLines_RefusesPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		`(`:                    "missing closing",
		`[0-9]+ ms`:            "names no time",
		`(?<time>[0-9]+)`:      "the unit is missing",
		`(?<ms>\d+) (?<s>\d+)`: "keep one",
	} {
		if err := CheckPattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pattern %q: %v, want %q", pattern, err, want)
		}
	}
	_, err := Read(t.Context(), Source{Data: strings.NewReader("{}")}, Options{Format: "hyperfine", Pattern: `(?<ms>\d+)`})
	if err == nil || !strings.Contains(err.Error(), "only the format lines has a pattern") {
		t.Errorf("a pattern for another format: %v", err)
	}
	_, err = Read(t.Context(), Source{Data: strings.NewReader("5 parsec")}, Options{Format: "lines", Pattern: `(?<time>\d+) (?<unit>\w+)`})
	if err == nil || !strings.Contains(err.Error(), `unknown unit "parsec"`) {
		t.Errorf("an unknown unit: %v", err)
	}
}

func mustReadLines(t *testing.T, pattern, text string) *measure.Run {
	t.Helper()
	run, err := Read(t.Context(), Source{Data: strings.NewReader(text)}, Options{Format: "lines", Pattern: pattern})
	if err != nil {
		t.Fatal(err)
	}
	return run
}
