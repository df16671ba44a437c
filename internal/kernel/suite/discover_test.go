package suite

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

// reply is what a harness answers to "cases", as the protocol has it.
const reply = `[
  {"name": "matmul", "implementations": ["candidate", "naive"], "flops": "2*N*N*N", "bytes": "3*4*N*N", "configs": [{"N": 256}, {"N": 512}]},
  {"name": "reduce", "implementations": ["candidate"], "configs": [{"dtype": "fp16", "N": 8}, {"N": 4096, "dtype": "fp32"}]},
  {"name": "scan"}
]`

func listed(t *testing.T, text string) []Listed {
	t.Helper()
	var list []Listed
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func keys(s *Suite) []string {
	var list []string
	for _, c := range s.Cases() {
		list = append(list, c.String())
	}
	return list
}

func parse(t testing.TB, text string) *Suite {
	t.Helper()
	s, err := Parse("pawl.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFillEverything(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: ./h}\nmetrics: {rate: {expr: N / time, better: higher}}\n")
	if !s.NeedsHarness() || len(s.Cases()) != 0 {
		t.Fatalf("before Fill: %v, %v", s.NeedsHarness(), keys(s))
	}
	full, err := s.Fill(listed(t, reply))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"matmul/N256/candidate", "matmul/N256/naive", "matmul/N512/candidate", "matmul/N512/naive",
		"reduce/dtype-fp16_N8/candidate", "reduce/dtype-fp32_N4096/candidate", "scan/candidate",
	}
	if diff := cmp.Diff(want, keys(full)); diff != "" {
		t.Error(diff)
	}
	c := full.Cases()[2]
	if c.Flops != 2*512*512*512 || c.Bytes != 3*4*512*512 || len(c.Metrics) != 3 {
		t.Errorf("matmul/N512: flops %v, bytes %v, metrics %v", c.Flops, c.Bytes, c.Metrics)
	}
	if full.NeedsHarness() || !s.NeedsHarness() || full.Digest != s.Digest {
		t.Error("Fill has to answer with another suite of the same digest")
	}
	if _, ok := full.Implementation("naive"); !ok {
		t.Error("an implementation that the harness lists is not in the suite")
	}
}

// What the file says stays; the harness fills the rest.
func TestFillKeepsTheFile(t *testing.T) {
	s := parse(t, string(read(t, "testdata/ok/discover.yaml")))
	full, err := s.Fill(listed(t, reply))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"matmul/N256/candidate", "matmul/N256/naive",
		"reduce/dtype-fp16_N8/candidate", "reduce/dtype-fp16_N8/naive",
		"scan/candidate", "scan/naive",
	}
	if diff := cmp.Diff(want, keys(full)); diff != "" {
		t.Error(diff)
	}
	if c := full.Cases()[0]; c.Flops != 2*256*256*256 {
		t.Errorf("flops of matmul: %v, want those the harness declares", c.Flops)
	}
	if c := full.Cases()[2]; c.Samples != 3 {
		t.Errorf("samples of reduce/N8: %d, want those of the override", c.Samples)
	}
}

// Adapters of other tools bring names and Go values of their own.
func TestFillNamedConfigs(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: ./h, format: google-benchmark}\nbenchmarks: {BM_x/8: {gate: false}}\n")
	full, err := s.Fill([]Listed{{Name: "BM_x/8", Configs: []Config{{Name: "threads:1", Params: Params{{"n", 3}, {"k", json.Number("4")}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c := full.Cases()[0]
	if c.Name() != "BM_x/8/threads:1" || c.Gate || !cmp.Equal(c.Params, Params{{"n", 3.0}, {"k", 4.0}}) {
		t.Errorf("case %s, gate %v, params %v", c.Name(), c.Gate, c.Params)
	}
}

func TestFillErrors(t *testing.T) {
	const one = "version: 1\nharness: {command: ./h}\nbenchmarks:\n  matmul:\n    exclude: [{K: 3}]\n"
	for _, tt := range []struct{ suite, listed, want string }{
		{"version: 1\nharness: {command: ./h}\n", `[]`, `pawl.yaml:2:10: the harness lists no benchmarks (list benchmarks in the suite)`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a"}, {"name": "a"}]`, `pawl.yaml:2:10: the harness lists benchmark "a" twice`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": ""}]`, `pawl.yaml:2:10: the harness lists a benchmark with an invalid name: "" cannot be the name of a benchmark (printable characters, at most 200, no space at either end)`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a", "flops": "2*", "bytes": "M", "configs": [{"N": 1}]}]`, `pawl.yaml:2:10: benchmark "a", as listed by the harness: flops: the expression ends too early`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a", "implementations": ["base"]}]`, `pawl.yaml:2:10: benchmark "a", as listed by the harness: "base" cannot be the name of an implementation (it is always measured, with the build and harness of the suite)`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a", "configs": [{"N": 1}, {"N": 1}]}]`, `pawl.yaml:2:10: config N1 of benchmark "a" appears twice`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a", "configs": [{"time": 1}]}]`, `pawl.yaml:2:10: benchmark "a", as listed by the harness: "time" cannot be the name of a parameter (it means something else in expressions)`},
		{"version: 1\nharness: {command: ./h}\n", `[{"name": "a", "configs": [{"s": "a\u0007"}]}]`, `pawl.yaml:2:10: benchmark "a", as listed by the harness: parameter "s" must be a finite number, short text, true or false`},
		{"version: 1\nharness: {command: ./h}\nmetrics: {x: {expr: K / time, better: higher}}\n", `[{"name": "a", "configs": [{"N": 1}]}]`, `pawl.yaml:3:21: expr: unknown variable "K" (known: time, flops, bytes, N)`},
		{one, `[{"name": "matmull"}]`, `pawl.yaml:4:3: the harness does not list benchmark "matmul" (did you mean "matmull"?)`},
		{one, `[{"name": "matmul", "configs": [{"N": 1}]}]`, `pawl.yaml:5:16: unknown parameter "K" (known: N)`},
		{one, `[{"name": "matmul", "configs": [{"K": 3}]}]`, `pawl.yaml:4:3: benchmark "matmul" has no configs left`},
	} {
		_, err := parse(t, tt.suite).Fill(listed(t, tt.listed))
		if _, ok := errors.AsType[Errors](err); !ok {
			t.Errorf("%s: %v, want Errors", tt.listed, err)
			continue
		}
		if first, _, _ := strings.Cut(err.Error(), "\n"); first != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.listed, first, tt.want)
		}
	}
}

func TestMetricOf(t *testing.T) {
	s := parse(t, string(read(t, "testdata/ok/matmul.yaml")))
	c := s.Cases()[0]
	got, err := c.Metrics[0].Of(c, measure.Samples{1000, 2000})
	if err != nil {
		t.Fatal(err)
	}
	// 2*256^3 operations in a microsecond are 33554 GFLOP/s.
	if want := (measure.Samples{33554.432, 16777.216}); !cmp.Equal(got, want) {
		t.Errorf("%s = %v, want %v", c.Metrics[0].Name, got, want)
	}
	if _, err := c.Metrics[0].Of(c, measure.Samples{1, 0}); err == nil {
		t.Error("a time of zero gives no throughput")
	}
}

func TestBaseIsTheCandidate(t *testing.T) {
	s := parse(t, string(read(t, "testdata/ok/references.yaml")))
	base, ok := s.Implementation(Base)
	if !ok || base.Harness.Command != "./harness" {
		t.Errorf("base: %+v, %v", base, ok)
	}
	if _, ok := s.Implementation("nobody"); ok {
		t.Error("found an implementation that is not there")
	}
}
