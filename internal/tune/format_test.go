package tune_test

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// ktCache is a cache file in the shape of Kernel Tuner's, without its end.
const ktCache = `{
"device_name": "Some GPU", "kernel_name": "blur", "problem_size": [4096, 4096],
"tune_params_keys": ["bx", "mode", "pad"], "tune_params": {"bx": [32, 16, 64], "mode": ["a", "b"], "pad": [true, false]},
"objective": "time",
"cache": {
"32,a,True": {"bx": 32, "mode": "a", "pad": true, "time": 2.1, "times": [2.0, 2.2, 2.1], "compile_time": 500.0, "verification_time": 10, "benchmark_time": 40.5, "strategy_time": 1, "framework_time": 2, "timestamp": "2024-03-01 10:00:00.5+00:00", "GFLOP/s": NaN},
"16,b,True": {"bx": 16, "mode": "b", "pad": true, "time": "CompilationFailedConfig", "compile_time": 250.0, "timestamp": "2024-03-01T10:00:01+00:00"},
"16,a,True": {"bx": 16, "mode": "a", "pad": true, "time": "InvalidConfig", "compile_time": 0},
"64,a,False": {"bx": 64, "mode": "a", "pad": false, "time": 1.5, "__error__": "RuntimeFailedConfig"},
"64,b,False": {"bx": 64, "mode": "b", "pad": false, "time": 1.25}`

func TestImportKernelTuner(t *testing.T) {
	want := []tune.Evaluation{
		{Point: map[string]any{"bx": 32.0, "mode": "a", "pad": true}, Status: tune.OK, Samples: []float64{2e6, 2.2e6, 2.1e6}, Value: 2.1e6, Build: 0.5, Check: 0.01, Measure: 0.0405, At: time.Date(2024, 3, 1, 10, 0, 0, 5e8, time.UTC)},
		{N: 1, Point: map[string]any{"bx": 16.0, "mode": "b", "pad": true}, Status: tune.CompileError, Build: 0.25, At: time.Date(2024, 3, 1, 10, 0, 1, 0, time.UTC)},
		{N: 2, Point: map[string]any{"bx": 16.0, "mode": "a", "pad": true}, Status: tune.Pruned},
		{N: 3, Point: map[string]any{"bx": 64.0, "mode": "a", "pad": false}, Status: tune.RuntimeError},
		{N: 4, Point: map[string]any{"bx": 64.0, "mode": "b", "pad": false}, Status: tune.OK, Samples: []float64{1.25e6}, Value: 1.25e6},
	}
	for name, text := range map[string]string{
		"whole": ktCache + "\n}}\n", "without its end": ktCache, "after a comma": ktCache + ",\n", "torn": ktCache + ",\n\"32,b,False\": {\"bx\": 3", "one brace": ktCache + "}",
	} {
		h, list, err := tune.Import(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, list, cmp.Comparer(time.Time.Equal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]any{16.0, 32.0, 64.0}, h.Space.Parameters[0].Values); h.Case != "blur" || h.Device.Name != "Some GPU" || diff != "" {
			t.Errorf("%s: header %+v\n%s", name, h, diff)
		}
	}
}

// t4Results are results in the shape that Kernel Tuner and KTT write them.
const t4Results = `{"schema_version": "1.0.0", "results": [
{"timestamp": "2024-03-01T10:00:00+00:00", "configuration": {"bx": 32, "by": 2}, "times": {"compilation": 500, "benchmark": 20, "framework": 1, "search_algorithm": 2, "validation": 10, "runtimes": [2.0, 4.0]}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 3.0, "unit": "ms"}, {"name": "GFLOP/s", "value": 7, "unit": ""}], "objectives": ["time"]},
{"configuration": {"bx": 64, "by": 2}, "times": {"compilation_time": 250, "runtimes": []}, "invalidity": "correctness", "correctness": 0},
{"configuration": {"bx": 32, "by": 2}, "times": {"runtimes": [9]}, "invalidity": "correct", "correctness": 1},
{"configuration": {"bx": 32, "by": 4}, "times": {}, "invalidity": "timeout", "correctness": 1},
{"configuration": {"bx": 64, "by": 4}, "times": {}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "TotalDuration", "value": 1500, "unit": "Microseconds"}], "objectives": ["TotalDuration"]}
]}`

func TestImportT4(t *testing.T) {
	h, list, err := tune.Import(strings.NewReader(t4Results))
	if err != nil {
		t.Fatal(err)
	}
	want := []tune.Evaluation{
		{Point: map[string]any{"bx": 32.0, "by": 2.0}, Status: tune.OK, Samples: []float64{2e6, 4e6}, Value: 3e6, Build: 0.5, Check: 0.01, Measure: 0.02, At: time.Date(2024, 3, 1, 10, 0, 0, 0, time.UTC)},
		{N: 1, Point: map[string]any{"bx": 64.0, "by": 2.0}, Status: tune.Wrong, Build: 0.25},
		{N: 2, Point: map[string]any{"bx": 32.0, "by": 4.0}, Status: tune.Timeout},
		{N: 3, Point: map[string]any{"bx": 64.0, "by": 4.0}, Status: tune.OK, Samples: []float64{1.5e6}, Value: 1.5e6},
	}
	if diff := cmp.Diff(want, list, cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if h.Space.Parameters[0].Name != "bx" || h.Space.Parameters[1].Name != "by" {
		t.Errorf("parameters %+v, want them in the order of the file", h.Space.Parameters)
	}
}

func TestImportRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":              "",
		"a list":               "[]",
		"other":                `{"a": 1}`,
		"no parameters":        `{"cache": {}}`,
		"no values":            `{"tune_params_keys": ["a"], "tune_params": {}, "cache": {}}`,
		"odd value":            `{"tune_params_keys": ["a"], "tune_params": {"a": [[1]]}, "cache": {}}`,
		"no point":             `{"tune_params_keys": ["a"], "tune_params": {"a": [1]}, "cache": {"1": {"time": 1}}}`,
		"odd failure":          `{"tune_params_keys": ["a"], "tune_params": {"a": [1]}, "cache": {"1": {"a": 1, "time": "Broken"}}}`,
		"must not be negative": `{"tune_params_keys": ["a"], "tune_params": {"a": [1]}, "cache": {"1": {"a": 1, "times": [-1]}}}`,
		"torn results":         t4Results[:len(t4Results)-3],
		"odd unit":             `{"metadata": {"timeunit": "days"}, "results": [{"configuration": {"a": 1}, "times": {"runtimes": [1]}, "invalidity": "correct"}]}`,
		"other names":          `{"results": [{"configuration": {"a": 1}, "invalidity": "compile"}, {"configuration": {"b": 1}, "invalidity": "compile"}]}`,
		"no results":           `{"results": []}`,
	} {
		if _, list, err := tune.Import(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %v, want an error", name, list)
		}
	}
}

func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written for another tool comes back as it was, but for what that tool has no words for.
func TestExportRoundTrip(t *testing.T) {
	for _, format := range tune.Formats {
		t.Run(format, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				h, list := drawSearch(rt)
				var b bytes.Buffer
				if err := tune.Export(&b, format, h, list); err != nil {
					rt.Fatal(err)
				}
				text := b.Bytes()
				if rapid.Bool().Draw(rt, "packed") {
					text = packed(t, text)
				}
				got, back, err := tune.Import(bytes.NewReader(text))
				if err != nil {
					rt.Fatalf("%v\n%s", err, b.String())
				}
				if format == tune.KernelTuner {
					for i, e := range list {
						if e.Status == tune.Wrong || e.Status == tune.Timeout {
							list[i].Status = tune.RuntimeError
						}
					}
				}
				if diff := cmp.Diff(list, back, cmp.Comparer(time.Time.Equal), cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
					rt.Errorf("(-want +got):\n%s", diff)
				}
				if got.Case != h.Case || got.Device.Name != h.Device.Name {
					rt.Errorf("header %+v, want %+v", got, h)
				}
				if format == tune.KernelTuner {
					if diff := cmp.Diff(h.Space.Parameters, got.Space.Parameters); diff != "" {
						rt.Errorf("space (-want +got):\n%s", diff)
					}
				}
			})
		})
	}
	if err := tune.Export(&bytes.Buffer{}, "xml", tune.Header{}, nil); err == nil {
		t.Error("no error for an unknown format")
	}
}

func drawSearch(t *rapid.T) (tune.Header, []tune.Evaluation) {
	h := tune.Header{Format: tune.Format, Case: "k/\"x\"", Device: gpu.Identity{Name: "GPU, with a comma"}}
	h.Space.Parameters = []space.Parameter{
		{Name: "BLOCK", Values: []any{1.0, 2.5, 64.0}, Default: 1.0},
		{Name: "mode", Values: []any{"b", "a,c", "NaN \"x\\"}, Default: "b"},
		{Name: "pad", Values: []any{true, false}, Default: true},
	}
	h.Space = h.Space.WithDigest()
	var list []tune.Evaluation
	seen := map[string]bool{}
	for range rapid.IntRange(1, 12).Draw(t, "evaluations") {
		e := tune.Evaluation{
			N: len(list), Point: map[string]any{}, Build: float64(rapid.IntRange(0, 5000).Draw(t, "build")) / 1e3,
			At: time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "at"), 0).UTC(),
		}
		for _, p := range h.Space.Parameters {
			e.Point[p.Name] = rapid.SampledFrom(p.Values).Draw(t, p.Name)
		}
		if seen[tune.Key(e.Point)] {
			continue
		}
		seen[tune.Key(e.Point)] = true
		e.Status = rapid.SampledFrom([]tune.Status{tune.OK, tune.OK, tune.CompileError, tune.RuntimeError, tune.Wrong, tune.Timeout, tune.Pruned}).Draw(t, "status")
		if e.Status == tune.OK {
			var samples []float64
			for _, ns := range rapid.SliceOfN(rapid.IntRange(1, 1e9), 1, 6).Draw(t, "samples") {
				samples = append(samples, float64(ns))
			}
			e.Measured(samples, false)
		}
		list = append(list, e)
	}
	return h, list
}

func FuzzImport(f *testing.F) {
	for _, text := range []string{ktCache, ktCache + "}}", t4Results, `{"format":"pawl.tuning/v1"}`, "{", `{"cache":{"1":{`, `{"results":[{}]}`} {
		f.Add([]byte(text))
	}
	f.Add(packed(f, []byte(ktCache)))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, list, err := tune.Import(bytes.NewReader(text))
		if err != nil || len(list) == 0 {
			return
		}
		// What can be read can be written and read again.
		for _, format := range tune.Formats {
			var b bytes.Buffer
			if err := tune.Export(&b, format, h, list); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			_, back, err := tune.Import(&b)
			if err != nil || len(back) != len(list) {
				t.Fatalf("%s: %d of %d evaluations, %v", format, len(back), len(list), err)
			}
			if !slices.EqualFunc(list, back, func(a, b tune.Evaluation) bool { return (a.Status == tune.OK) == (b.Status == tune.OK) }) {
				t.Fatalf("%s: other evaluations are right", format)
			}
		}
	})
}
