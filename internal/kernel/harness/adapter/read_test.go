package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

// read reads bytes as one format, without any files.
func read(t tb, format, data string) (*measure.Run, error) {
	t.Helper()
	return Read(t.Context(), Source{Name: "input", Data: strings.NewReader(data)}, Options{Format: format})
}

func mustRead(t tb, format, data string) *measure.Run {
	t.Helper()
	run, err := read(t, format, data)
	if err != nil {
		t.Fatal(err)
	}
	wholesome(t, run)
	return run
}

func TestPawlRecordIsLeftToMeasure(t *testing.T) {
	dir := t.TempDir()
	run := mustRead(t, "triton", `{"name":"k","unit":"ms","samples":[1,2]}`)
	for _, name := range []string{"run.json", "run.json.zst"} {
		path := filepath.Join(dir, name)
		if err := measure.Save(path, run); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(t.Context(), path, "", Options{}); !errors.Is(err, ErrPawlRecord) {
			t.Errorf("%s: error = %v, want ErrPawlRecord", name, err)
		}
		back, err := measure.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run.Cases, back.Cases); diff != "" {
			t.Errorf("%s: cases changed on the way to disk and back (-want +got):\n%s", name, diff)
		}
	}
}

func TestSamplesOfATurn(t *testing.T) {
	for text, want := range map[string]int{"4": 4, "0": 0, "-1": 0} {
		run := mustRead(t, "", `{"case":"k","unit":"ms","samples":[1,2],"samples_per_turn":`+text+`}`)
		if got := run.Cases[0].Rounds[0].SamplesPerTurn; got != want {
			t.Errorf("%s samples per turn are read as %d, want %d", text, got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, format := range []string{"", "nvbench2"} {
		if _, err := read(t, format, "hello"); !errors.Is(err, ErrUnknownFormat) {
			t.Errorf("format %q: error = %v, want ErrUnknownFormat", format, err)
		}
	}
}

func TestTimerOfGoogleBenchmark(t *testing.T) {
	path := "testdata/google-benchmark/repetitions.json"
	run, err := ReadFile(t.Context(), path, "", Options{Timer: measure.TimerCPU})
	if err != nil {
		t.Fatal(err)
	}
	got := run.Cases[0]
	want := measure.CaseRound{
		Batch:   1000,
		Samples: measure.Samples{510.5, 508.25, 529},
		Wall:    measure.Samples{512.25, 509.75, 530.5},
	}
	if diff := cmp.Diff(want, got.Rounds[0]); got.Timer != measure.TimerCPU || diff != "" {
		t.Errorf("timer %q (-want +got):\n%s", got.Timer, diff)
	}
	if _, err := ReadFile(t.Context(), path, "", Options{Timer: measure.TimerDevice}); err == nil {
		t.Error("the device's clock is not in the file, and was read")
	}
	if _, err := ReadFile(t.Context(), "testdata/go/units.txt", "", Options{Timer: measure.TimerCPU}); err == nil {
		t.Error("a clock could be chosen in a format that carries one")
	}
}

// TestLimits gives endless and oversized input to the adapters, under limits
// that are small enough to reach.
func TestLimits(t *testing.T) {
	small := limits{stream: 1 << 20, document: 100_000, sidecars: 1000, cases: 10, warnings: 5}
	tests := []struct {
		name, format string
		data         io.Reader
		want         string
	}{
		{"a document without end", "hyperfine", io.MultiReader(strings.NewReader(`{"results":[`), endless(' ')), "larger than the limit of 100000 bytes"},
		{"a record without end", "triton", io.MultiReader(strings.NewReader(`{"samples":[`), endless('1')), "larger than 100000 bytes"},
		{"a stream without end", "triton", endless('\n'), "larger than the limit of 1 MiB"},
		{"a line without end", "go", endless('B'), "larger than the limit of 1 MiB"},
		{"nesting", "sdpa", strings.NewReader(`{"config":` + strings.Repeat("[", 1000)), "nested deeper than 64 levels"},
		{"nesting in a stream", "triton", strings.NewReader(`{"samples":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}"), "nested deeper than 64 levels"},
		{"cases", "go", manyBenchmarks(11), "more than 10 cases"},
		{"cases of one name", "triton", strings.NewReader(strings.Repeat(`{"name":"x","unit":"ns","samples":[1]}`+"\n", 11)), "more than 10 cases"},
		{"parameters", "triton", strings.NewReader(manyParams(maxParams + 1)), "more than 100 parameters"},
		{"conditions", "go", manyConditions(maxGoConfig + 1), "more than 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readWithin(t.Context(), Source{Name: "input", Data: tt.data}, Options{Format: tt.format}, small)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "input: "+tt.format+": ") {
				t.Errorf("error = %v, want one of input and %s about %q", err, tt.format, tt.want)
			}
		})
	}
	for format, data := range map[string]io.Reader{
		"go":     manyBenchmarks(10),
		"triton": strings.NewReader(strings.Repeat(`{"name":"x","unit":"ns","samples":[1]}`+"\n", 10)),
	} {
		if run, err := readWithin(t.Context(), Source{Name: "input", Data: data}, Options{Format: format}, small); err != nil || len(run.Cases) != 10 {
			t.Errorf("%s: ten cases are within the limit of ten: %v", format, err)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func manyBenchmarks(n int) io.Reader {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "BenchmarkX/%d 1 5 ns/op\n", i)
	}
	return strings.NewReader(b.String())
}

func manyParams(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"p%d":1`, i)
	}
	return `{"name":"x","unit":"ns","samples":[1],"params":{` + strings.Join(parts, ",") + `}}`
}

func manyConditions(n int) io.Reader {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return strings.NewReader(b.String() + "BenchmarkX 1 5 ns/op\n")
}

func TestLimitedReader(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		fits  bool
	}{{4, false}, {5, true}, {6, true}} {
		got, err := io.ReadAll(&limitedReader{ctx: t.Context(), r: strings.NewReader("12345"), left: tt.limit})
		if (err == nil) != tt.fits || (tt.fits && string(got) != "12345") {
			t.Errorf("limit %d: %q, %v", tt.limit, got, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadFile(ctx, "testdata/criterion/target", "", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("folder: error = %v, want context.Canceled", err)
	}
	if _, err := ReadFile(ctx, "testdata/go/go_test.txt", "", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("file: error = %v, want context.Canceled", err)
	}
}

// TestWarningsAreBounded lets a file warn more often than anyone reads.
func TestWarningsAreBounded(t *testing.T) {
	run := mustRead(t, "go", "BenchmarkGood 1 5 ns/op\n"+strings.Repeat("--- FAIL: BenchmarkBad\n", 3*standard.warnings))
	last := run.Warnings[len(run.Warnings)-1]
	if len(run.Warnings) != standard.warnings+1 || !strings.Contains(last.Message, "2000 more") {
		t.Errorf("%d warnings, the last %+v", len(run.Warnings), last)
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 1000)
	run := mustRead(t, "triton", fmt.Sprintf(
		`{"name":"%[1]sA","unit":"ns","samples":[1]} {"name":"%[1]sB","unit":"ns","samples":[1]} {"name":"tab\there\u0000","unit":"ns","samples":[1]}`, long))
	if a, b := run.Cases[0].Benchmark, run.Cases[1].Benchmark; a == b || !strings.HasPrefix(a, "nnn") {
		t.Errorf("two long names became %q and %q", a, b)
	}
	if got := run.Cases[2].Benchmark; got != "tab here" {
		t.Errorf("name = %q, want one line", got)
	}
}

// TestMetricIsNotTheTime gives counters names that would make them the case itself.
func TestMetricIsNotTheTime(t *testing.T) {
	run := mustRead(t, "google-benchmark", `{"benchmarks":[{"name":"k","real_time":10,"cpu_time":9,"":0,"\u007f":1,"time":-3}]}`)
	var names []string
	for _, c := range run.Cases {
		names = append(names, c.Name())
	}
	if diff := cmp.Diff([]string{"k", "k:counter time"}, names); diff != "" || len(run.Warnings) != 2 {
		t.Errorf("warnings %+v, cases (-want +got):\n%s", run.Warnings, diff)
	}
}

// TestByteOrderMark reads what Windows editors save.
func TestByteOrderMark(t *testing.T) {
	run := mustRead(t, "", "\ufeff"+`{"results":[{"command":"a","times":[1,2]}]}`)
	if run.Format != "hyperfine" {
		t.Errorf("format = %s", run.Format)
	}
}

// TestDataWithFiles is a harness's output on a pipe with the files it wrote.
func TestDataWithFiles(t *testing.T) {
	doc, err := os.ReadFile("testdata/nvbench/jsonbin.json")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	src := Source{Path: "out/jsonbin.json", Files: files, Data: strings.NewReader(string(doc))}
	run, err := Read(t.Context(), src, Options{Format: "nvbench"})
	if err != nil || !run.Cases[0].NoSamples {
		t.Fatalf("without its files: %v", err)
	}
	for i := range 3 {
		for _, folder := range []string{"jsonbin.json-bin", "jsonbin.json-freqs-bin"} {
			name := fmt.Sprintf("%s/%d.bin", folder, i)
			raw, err := os.ReadFile("testdata/nvbench/" + name)
			if err != nil {
				t.Fatal(err)
			}
			files["out/"+name] = &fstest.MapFile{Data: raw}
		}
	}
	src.Data = strings.NewReader(string(doc))
	run, err = Read(t.Context(), src, Options{Format: "nvbench"})
	if err != nil {
		t.Fatal(err)
	}
	if r := run.Cases[0].Rounds[0]; len(r.Samples) != 12 || len(r.Clocks) != 12 {
		t.Errorf("%d samples, %d clocks, want 12 each", len(r.Samples), len(r.Clocks))
	}
}

func TestTameJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity,Infinity,-NaN,-1]}`: `{"a":null,"b":[null,null,null,-1]}`,
		`{"NaN":"Infinity \" NaN"}`:                  `{"NaN":"Infinity \" NaN"}`,
		`"NaN`:                                       `"NaN`,
		`NaN`:                                        `null`,
		`"\`:                                         `"\`,
	} {
		got, err := sanitizeJSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("tameJSON(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestConfigName(t *testing.T) {
	for want, params := range map[string][]param{
		"B32_H8_S512_D64":             {{"B", 32.0}, {"H", 8.0}, {"S", 512.0}, {"D", 64.0}},
		"alpha0.5_dtype-fp16_ok-true": {{"alpha", 0.5}, {"dtype", "fp16"}, {"ok", true}},
		"N1048576":                    {{"N", float64(1 << 20)}},
		"x1e+30":                      {{"x", 1e30}},
		"n-1":                         {{"n", -1.0}},
		"path-a-b--c":                 {{"path", "a/b *c"}},
		"":                            nil,
	} {
		if got := configName(params); got != want {
			t.Errorf("configName(%v) = %q, want %q", params, got, want)
		}
	}
	if v := scalar("1e999"); v != "1e999" {
		t.Errorf("an infinite number became %v", v)
	}
	if v := scalar("NaN"); v != "NaN" {
		t.Errorf("NaN became %v", v)
	}
	if !math.IsNaN((&nvState{}).value("x")) {
		t.Error("a missing summary has a value")
	}
}
