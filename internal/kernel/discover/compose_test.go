package discover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

var aHarness = Finding{
	Level: Harness, Source: "harness.c", Timer: measure.TimerCPU,
	Build:   suite.Build{Command: "make harness", Outputs: []string{"harness"}},
	Harness: suite.Harness{Command: "./harness"},
}

func configs(names string, rows ...[]any) []suite.Config {
	var list []suite.Config
	for _, row := range rows {
		var p suite.Params
		for i, name := range strings.Fields(names) {
			p = append(p, suite.Param{Name: name, Value: row[i]})
		}
		list = append(list, suite.Config{Params: p})
	}
	return list
}

// What a harness lists, and how an engineer would write it down.
func TestBenchmarks(t *testing.T) {
	many := make([][]any, maxListed+1)
	for i := range many {
		many[i] = []any{float64(i), float64(i * i)}
	}
	for _, tt := range []struct {
		name   string
		listed []suite.Listed
		want   string
	}{
		{
			"a grid",
			[]suite.Listed{{
				Name: "gemm", Flops: "2*M*N", Bytes: "4*M*N",
				Configs: configs("M N dtype", []any{256.0, 64.0, "fp16"}, []any{256.0, 128.0, "fp16"}, []any{512.0, 64.0, "fp16"}, []any{512.0, 128.0, "fp16"}),
			}},
			`benchmarks:
  gemm:
    matrix: {M: [256, 512], N: [64, 128], dtype: [fp16]}
    flops: 2*M*N
    bytes: 4*M*N
`,
		},
		{
			"not a grid",
			[]suite.Listed{{Name: "gemm", Configs: configs("M N", []any{256.0, 64.0}, []any{512.0, 128.0})}},
			`benchmarks:
  gemm:
    include:
      - {M: 256, N: 64}
      - {M: 512, N: 128}
`,
		},
		{
			"a grid with a hole",
			[]suite.Listed{{Name: "x", Configs: configs("M N", []any{1.0, 1.0}, []any{1.0, 2.0}, []any{2.0, 1.0})}},
			`benchmarks:
  x:
    include:
      - {M: 1, N: 1}
      - {M: 1, N: 2}
      - {M: 2, N: 1}
`,
		},
		{
			"without parameters",
			[]suite.Listed{{Name: "launch"}, {Name: "sync", Flops: "1"}},
			`benchmarks:
  launch: {}
  sync:
    flops: "1"
`,
		},
		{
			"too many to write down",
			[]suite.Listed{{Name: "x", Configs: configs("A B", many...)}},
			`benchmarks:
  x: {}
`,
		},
		{
			"references",
			[]suite.Listed{
				{Name: "a", Implementations: []string{"candidate", "naive", "blas"}, Configs: configs("N", []any{1.0})},
				{Name: "b", Implementations: []string{"candidate", "naive"}, Configs: configs("N", []any{1.0})},
				{Name: "c", Configs: configs("N", []any{1.0})},
			},
			`implementations:
  naive: {}
  blas: {}
benchmarks:
  a:
    matrix: {N: [1]}
  b:
    matrix: {N: [1]}
    implementations: [candidate, naive]
  c:
    matrix: {N: [1]}
    implementations: [candidate]
`,
		},
		{
			"values that look like something else",
			[]suite.Listed{{Name: "BM_x<a, b>/1", Configs: configs("s t f", []any{"512", true, 0.5}, []any{"yes", false, 1e20}, []any{"a: b", true, -3.0})}},
			`benchmarks:
  BM_x<a, b>/1:
    include:
      - {s: "512", t: true, f: 0.5}
      - {s: yes, t: false, f: 1e+20}
      - {s: 'a: b', t: true, f: -3}
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := Compose("s", aHarness, &Answer{Listed: tt.listed})
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			_, got, _ := strings.Cut(string(data), "command: ./harness\n")
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The clock: the device's where there is one; on the host what the sources suggest.
func TestTimer(t *testing.T) {
	wall, cpu, dev := measure.TimerWall, measure.TimerCPU, measure.TimerDevice
	for _, tt := range []struct {
		suggested measure.Timer
		offered   []measure.Timer
		want      measure.Timer
	}{
		{cpu, []measure.Timer{wall, cpu}, cpu},
		{wall, []measure.Timer{wall, cpu}, wall},
		{"", []measure.Timer{wall, cpu}, wall},
		{"", []measure.Timer{dev, wall, cpu}, dev},
		{cpu, []measure.Timer{dev, wall, cpu}, dev},
		{cpu, []measure.Timer{wall}, wall},
		{cpu, nil, ""},
	} {
		a := Answer{Welcome: harness.Welcome{Timers: tt.offered}}
		if got := a.timer(tt.suggested); got != tt.want {
			t.Errorf("%q of %v is %q, want %q", tt.suggested, tt.offered, got, tt.want)
		}
	}
}

func TestComposeRefusesWhatMakesNoSuite(t *testing.T) {
	for name, listed := range map[string][]suite.Listed{
		"nothing":            {},
		"a bad name":         {{Name: "a\nb"}},
		"a bad parameter":    {{Name: "a", Configs: configs("time", []any{1.0})}},
		"a bad expression":   {{Name: "a", Flops: "2*M", Configs: configs("N", []any{1.0})}},
		"another set":        {{Name: "a", Configs: slices.Concat(configs("N", []any{1.0}), configs("M", []any{1.0}))}},
		"twice":              {{Name: "a"}, {Name: "a"}},
		"a reserved name":    {{Name: harness.CalibrationBenchmark}},
		"bad implementation": {{Name: "a", Implementations: []string{"candidate", "base"}}},
	} {
		if data, err := Compose("s", aHarness, &Answer{Listed: listed}); err == nil {
			t.Errorf("%s makes a suite:\n%s", name, data)
		}
	}
}

// Whatever a harness lists, the suite that is written has the same cases as one
// that leaves the list to the harness.
func TestWrittenSuiteHasTheCasesOfTheHarness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listed := drawListed(t)
		open, err := Compose("s", aHarness, nil)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := suite.Parse("pawl.yaml", open)
		if err != nil {
			t.Fatal(err)
		}
		filled, err := parsed.Fill(listed)
		nonsense := err != nil
		data, err := Compose("s", aHarness, &Answer{Listed: listed})
		if nonsense {
			if err == nil {
				t.Fatalf("what the harness lists is wrong, and nobody says so:\n%s", data)
			}
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		written, err := suite.Parse("pawl.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		if written, err = written.Fill(listed); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := gocmp.Diff(described(filled), described(written)); diff != "" {
			t.Fatalf("(-harness +suite)\n%s\n%s", diff, data)
		}
	})
}

func described(s *suite.Suite) []string {
	var list []string
	for _, c := range s.Cases() {
		list = append(list, fmt.Sprintf("%s %s %v flops %g bytes %g", c.Name(), c.Implementation, c.Params.Map(), c.Flops, c.Bytes))
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

func drawListed(t *rapid.T) []suite.Listed {
	value := rapid.OneOf(
		rapid.Map(rapid.IntRange(-3, 4096), func(n int) any { return float64(n) }),
		rapid.Map(rapid.Float64Range(-1e18, 1e18), func(f float64) any { return f + 0 }), // + 0: a suite has no -0
		rapid.Map(rapid.SampledFrom([]string{"fp16", "512", "true", "null", "1e3", "a b", "x,y", "[z]", "", "#", "'", "~", "0x10", ": "}), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	)
	benchmark := rapid.Custom(func(t *rapid.T) suite.Listed {
		l := suite.Listed{
			Name:            rapid.SampledFrom([]string{"gemm", "a:b", "BM_x<float>/1", "12", "true", "é", "- a", "{}"}).Draw(t, "name"),
			Implementations: rapid.SampledFrom([][]string{nil, {"candidate"}, {"candidate", "naive"}, {"candidate", "naive", "1.5"}, {"candidate", "on"}}).Draw(t, "implementations"),
		}
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"N", "y", "on", "dtype", "No"}), 0, 3, rapid.ID[string]).Draw(t, "parameters")
		axes := make([][]any, len(names))
		for i := range axes {
			axes[i] = rapid.SliceOfN(value, 1, 3).Draw(t, "values")
		}
		rows := [][]any{{}}
		for _, axis := range axes {
			var next [][]any
			for _, row := range rows {
				for _, v := range axis {
					next = append(next, append(slices.Clone(row), v))
				}
			}
			rows = next
		}
		if len(names) > 0 {
			if rapid.Bool().Draw(t, "leave one out") && len(rows) > 1 {
				rows = rows[1:]
			}
			l.Configs = configs(strings.Join(names, " "), rows...)
		}
		l.Flops = rapid.SampledFrom([]string{"", "1", "2*3", "1e9"}).Draw(t, "flops")
		return l
	})
	return rapid.SliceOfNDistinct(benchmark, 1, 3, func(l suite.Listed) string { return l.Name }).Draw(t, "listed")
}
