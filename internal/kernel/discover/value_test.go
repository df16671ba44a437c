package discover

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestEvaluate(t *testing.T) {
	known := constants("SIZES = [1, 2]\nBASE = 2**3\nLOOP = LOOP + 1\n")
	for text, want := range map[string]any{
		"12":                                 12.0,
		"0x10":                               16.0,
		"1_000":                              1000.0,
		"-2 ** 2":                            -4.0,
		"1 << 10":                            1024.0,
		"7 // 2 + 7 % 3":                     4.0,
		"'a' ":                               "a",
		`"fp16"`:                             "fp16",
		"torch.float16":                      "float16",
		"True":                               true,
		"[1, 2, ]":                           []any{1.0, 2.0},
		"(1,)":                               []any{1.0},
		"(1)":                                1.0,
		"[1] + [2]":                          []any{1.0, 2.0},
		"list(range(1, 4))":                  []any{1.0, 2.0, 3.0},
		"[2**i for i in range(3)]":           []any{1.0, 2.0, 4.0},
		"[(i, j) for i in [1] for j in [2]]": []any{[]any{1.0, 2.0}},
		"[i * j for i in [1, 2] for j in (3, 4)]": []any{3.0, 4.0, 6.0, 8.0},
		"SIZES":                     []any{1.0, 2.0},
		"[BASE * n for n in SIZES]": []any{8.0, 16.0},
		"[1, # one, two\n 2]":       []any{1.0, 2.0},
		"inclusive(20, 24, 2)":      []any{20.0, 22.0, 24.0},
	} {
		got, ok := evaluate(text, known)
		if diff := gocmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", text, ok, diff)
		}
	}
	for _, text := range []string{
		"", "f(1)", "x", "LOOP", "os.system('x')", "1 +", "[", "{1: 2}", "2 ** 1000", "1 / 0", "range(1000000000)", "'a\\n'",
		"[i for i in range(100) for j in range(100)]", "range(1, 2, 0)", strings.Repeat("(", 1000), strings.Repeat("-", 100_000),
		"[" + strings.Repeat("1,", 10_000) + "]",
	} {
		if got, ok := evaluate(text, known); ok {
			t.Errorf("%.40q is %v", text, got)
		}
	}
}

func TestLinePattern(t *testing.T) {
	for format, want := range map[string]string{
		"block_size %4d | time %.4f ms | %.2f GB/s\n": `block_size\s*(?<block_size>[0-9]+)\s*\|\s+time\s*(?<ms>[0-9.eE+-]+)\s*ms\s+\|\s*[-+0-9.eEnaif]+\s*GB/s`,
		"elapsed: (%7.6f) s, size: (%ld).\n":          `elapsed:\s+\(\s*(?<s>[0-9.eE+-]+)\)\s+s,\s+size:\s+\(\s*(?<size>[0-9]+)\)\.`,
		"%s, %d items, %f ms\n":                       `\s*(?<case>\S.*?),\s*[0-9a-fA-Fx-]+\s*items,\s*(?<ms>[0-9.eE+-]+)\s*ms`,
		"time taken (ms): %f":                         `time\s+taken\s+\(ms\):\s*(?<ms>[0-9.eE+-]+)`,
		"run %d: %lu us/run":                          `run\s*[0-9a-fA-Fx-]+:\s*(?<us>[0-9.eE+-]+)\s*us/run`,
		"first line\n%d runs, %.1f sec\n":             `\s*[0-9a-fA-Fx-]+\s*runs,\s*(?<s>[0-9.eE+-]+)\s*sec`,
		"bandwidth %.2f GB/s\n":                       "",
		"loss %f\n":                                   "",
		"%d s":                                        `\s*(?<s>[0-9.eE+-]+)\s*s`,
	} {
		got, ok := linePattern(format)
		if ok != (want != "") || got != want {
			t.Errorf("%q is\n%s, want\n%s", format, got, want)
		}
	}
}

// What a suite lists is all that it measures: a report that is not understood, or a measurement beside it, lists nothing.
func TestPerfReports_ListsAllOrNothing(t *testing.T) {
	const report = "@triton.testing.perf_report(Benchmark(x_names=['M', 'N'], x_vals=%s, line_arg='p', line_vals=['a'], args={}))\ndef bench(M, N, p):\n    do_bench(f)\n"
	for name, tt := range map[string]struct {
		text, vals string
		want       int
	}{
		"one value for both": {report, "[64, 128]", 2},
		"pairs":              {report, "[(64, 1), (128, 2), (256, 3)]", 3},
		"a call":             {report, "sizes()", 0},
		"floats":             {report, "[0.5]", 0},
		"another do_bench":   {report + "\ndef other():\n    do_bench(g)\n", "[64]", 0},
	} {
		list := perfReports(file{"bench/x.py", strings.Replace(tt.text, "%s", tt.vals, 1)})
		got := 0
		for _, l := range list {
			got += len(l.Configs)
			if l.Name != "x.bench" {
				t.Errorf("%s: the name is %q", name, l.Name)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %d configs, want %d", name, got, tt.want)
		}
	}
}
